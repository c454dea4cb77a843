"""What lies in a folder of results: table schemas, parquet files, failed parts, holes, disk space. Imports no room."""
