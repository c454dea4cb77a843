"""Published claims: their quantities, what the run says of them, the verdict."""
