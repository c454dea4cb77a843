"""The sampler: rounds of blocks of arms along an axis. It knows nothing of messages."""
