"""The ranks of a launch: who they are, and how they talk between blocks."""
