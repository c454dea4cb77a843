"""The pages: the parts that the cells of each .qmd call, the summary, and the charts of a comparison."""
