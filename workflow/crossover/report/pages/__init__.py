"""The pages: the parts that the cells of each .qmd call, and the summary."""
