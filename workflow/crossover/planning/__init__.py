"""From the configuration to launches: the list of launches, their time, and which are measured already."""
