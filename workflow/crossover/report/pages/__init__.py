"""The pages: what the cells of each .qmd call, part by part, and the summary."""
