"""What a worker finds when it imports, or asks which packages are installed.

Packages that it may not read are not there for it: `try: import colorama` in torch must go on. Of those that it may
read, the versions are known without their files, which no wall needs a gate for.
"""

import os
import pathlib
import re
import sys
from importlib.machinery import PathFinder
from typing import ClassVar


class ReadableFinder(PathFinder):
    """The usual finder of modules, blind to packages whose files may not be opened. `versions`: of the others."""

    versions: ClassVar[dict[str, str]] = {}

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

    @classmethod
    def find_distributions(cls, context=None):
        from importlib import metadata

        class Known(metadata.Distribution):
            """A package of which the name and the version are known."""

            def __init__(self, name):
                self.text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {cls.versions[name]}\n"

            def read_text(self, filename):
                return self.text if filename == "METADATA" else None

            def locate_file(self, path):
                return pathlib.Path(sys.path[-1]) / path  # where the packages lie

        wanted = context and context.name
        names = [_normal(wanted)] if wanted else cls.versions
        return (Known(name) for name in names if name in cls.versions)


def install(versions: dict[str, str]) -> None:
    """Use it from now on, in this process and its forks. versions: of packages, by normalized name."""
    ReadableFinder.versions = versions
    sys.meta_path = [ReadableFinder if finder is PathFinder else finder for finder in sys.meta_path]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
