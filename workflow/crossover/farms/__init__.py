"""The task farms, a folder each: what it is (`__init__.py`), how it runs tasks (`farm.py`).

No module lists them: a folder here is a farm. Only `farm.py` needs the farm's packages.
"""
