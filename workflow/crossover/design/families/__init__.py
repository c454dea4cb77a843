"""Settings that the experiments of a family share."""
