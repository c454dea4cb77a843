"""Charts: figures, their marks, axes, colours and styles, and how they get onto a page."""
