"""The commands, a module for each group; each command loads the wings that it needs, when it runs, and no other."""
