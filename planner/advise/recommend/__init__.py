"""What to buy or rent for a budget: complete builds and rentals, ranked, each with its reasons."""
