"""Renders a .qmd to a page, by Quarto or by the built-in preview."""
