"""Time to train to a target quality: how many samples it takes, and how fast a system works them off."""
