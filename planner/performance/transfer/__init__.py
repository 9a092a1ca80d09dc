"""Transfer: speed of a model on a card, from its speed on other cards."""
