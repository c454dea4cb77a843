"""The report: charts, sentences and pages, made from tables only.

`charts` draws the figures, `sentences` and `sections` write the text, `pages` has the output of the cells of
`reports/index.qmd`. `render` turns that file into one self-contained page, by Quarto or by the built-in preview.
"""
