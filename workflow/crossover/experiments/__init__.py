"""The experiments, a folder each: what it is (`__init__.py`), how it is measured (`driver.py`), its prose (`page.md`).

No module lists them: a folder here is an experiment, and none imports another. Only drivers are slow to load.
"""
