"""The report: words, charts and pages, made from tables only.

`text` has the words, `charts` draws the figures, `pages` has the output of the cells of `reports/index.qmd`, and turns
that file into one self-contained page, by Quarto or by the built-in preview.
"""
