"""The pages, from their cells to their rendering by Quarto or by the built-in preview; the answer in the terminal."""
