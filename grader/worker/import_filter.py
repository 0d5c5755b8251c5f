"""Packages that a worker may not read are not there for it: `try: import colorama` in torch must go on."""

import os
import sys
from importlib.machinery import PathFinder


class ReadableFinder(PathFinder):
    """The usual finder of modules, blind to packages whose files may not be opened."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or path is not None or not spec.has_location:
            return spec
        try:
            os.close(os.open(spec.origin, os.O_RDONLY | os.O_CLOEXEC))
        except PermissionError:
            return None
        except OSError:
            pass  # whatever it is, the import itself tells it best
        return spec


def install() -> None:
    """Use it from now on, in this process and its forks."""
    sys.meta_path = [ReadableFinder if finder is PathFinder else finder for finder in sys.meta_path]
