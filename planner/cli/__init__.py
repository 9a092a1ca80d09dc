"""The command line by subcommand: its options, and the one planner call that answers it."""
