"""The basis of all sections: reading tables, writing numbers, pieces of markup."""
