"""The measuring wing: takes one launch from its command line to a raw file or a typed hole."""
