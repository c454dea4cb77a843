"""What carries a finished run to others: publishing its report, archiving all of it, rendering an archive again."""
