"""From the configuration to launches: which there are, how long they take, which are measured already."""
