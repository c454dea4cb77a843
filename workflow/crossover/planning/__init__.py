"""From the configuration to launches: which, how long they take, which are there already. Imports config, records."""
