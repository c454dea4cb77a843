"""The command line: a parser, and one module for each group of commands, which imports other rooms only to run one."""
