"""The words of the report: numbers, tables, and sentences of one subject each."""
