"""Tables of measurements: reading them, their rows, and which of these can be predicted."""
