"""The page, from its cells to its rendering by Quarto or by the built-in preview; the texts in the terminal."""
