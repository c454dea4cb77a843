"""Charts: figures, their marks, colours and styles; the map and the picture of claims; and their place on a page."""
