"""Measures the machine it runs on: matmuls, memory bandwidth, training steps. Functions import torch, modules don't."""
