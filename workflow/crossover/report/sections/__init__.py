"""Sections of the report: tables and sentences of one subject each."""
