"""The best mix of owned and rented machines, by an integer programme with the kernel's own coefficients."""
