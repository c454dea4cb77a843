"""The command line: a parser, and one module for each group of commands. Imports anything, only when a command runs."""
