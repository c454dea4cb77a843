"""What entrants share: servers, tunnels, tasks, and the conditions that a protocol names."""
