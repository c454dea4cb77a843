"""The files of a folder of results: table schemas, parquet files, failed parts, disk space. Imports nothing of ours."""
