"""The files of a folder of results: schemas, files and their writing, failed parts, holes, space. Imports no room."""
