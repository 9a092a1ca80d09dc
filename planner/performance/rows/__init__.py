"""From a row of a table of measurements to a complete run, and to its prediction."""
