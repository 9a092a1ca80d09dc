"""Predictions against measurements: reading a table of them, refusing what can't be, and scoring the rest."""
