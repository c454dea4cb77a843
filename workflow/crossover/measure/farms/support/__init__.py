"""Common parts of task farms and their experiments: servers, tunnels, tasks, and keys of curves."""
