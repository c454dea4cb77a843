"""The pictures at the top of the page: the map of who wins where, and the verdicts on published claims."""
