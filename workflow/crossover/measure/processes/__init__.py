"""The processes of a launch: their start, their output, their end, and the files that killed ones leave."""
