"""The TOML reader: the standard library's from Python 3.11 on, and the package tomli before that."""

import sys

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["tomllib"]
