"""Charts: figures, their marks, axes, colours and styles, and their place on a page."""
