"""The finding of a run: its title, and the cards below it."""
