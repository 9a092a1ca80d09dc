"""What was used and paid, against the plan, and the rest of the plan anew."""
