"""Turnaround on shared machines, by a seeded simulation of every attempt."""
