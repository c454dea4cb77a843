"""The reporting wing: charts, sentences and one page, made from the tables and from nothing else.

`figures.draw` makes every chart, `prose` every sentence, `page` what the cells of `reports/index.qmd` show;
`render.render` turns that file into one self-contained page, by Quarto or by the `preview` renderer.
"""
