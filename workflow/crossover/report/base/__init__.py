"""What every section needs: tables as read, numbers as written, pieces of markup."""
