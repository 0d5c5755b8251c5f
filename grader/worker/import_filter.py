"""Decides which modules a worker can import and which packages it finds installed.

A package whose files the worker may not read looks as if it were not installed, so that `try: import colorama` in torch
does not fail with PermissionError. The versions of the readable packages are passed to the worker, so that it needs no
access to the files of their metadata.
"""

import os
import pathlib
import re
import sys
from importlib.machinery import PathFinder
from typing import ClassVar


class ReadableFinder(PathFinder):
    """The usual finder of modules, without the packages whose files may not be opened.

    versions: those of the readable packages, by normalized name.
    """

    versions: ClassVar[dict[str, str]] = {}

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        """The spec of a module, as PathFinder gives it; None where its file may not be read."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or path is not None or not spec.has_location:
            return spec
        try:
            os.close(os.open(spec.origin, os.O_RDONLY | os.O_CLOEXEC))
        except PermissionError:
            return None
        except OSError:
            pass  # the import itself raises the error that describes the problem
        return spec

    @classmethod
    def find_distributions(cls, context=None):
        """The readable packages with the name of the context, or all of them."""
        from importlib import metadata

        class ReadableDistribution(metadata.Distribution):
            """A package of which only the name and the version are known."""

            def __init__(self, name):
                self.text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {cls.versions[name]}\n"

            def read_text(self, filename):
                return self.text if filename == "METADATA" else None

            def locate_file(self, path):
                return pathlib.Path(sys.path[-1]) / path  # the folder of the packages

        requested_name = context and context.name
        names = [_normal(requested_name)] if requested_name else cls.versions
        return (ReadableDistribution(name) for name in names if name in cls.versions)


def install(versions: dict[str, str]) -> None:
    """Use this finder from now on, in this process and its forks.

    versions: those of the readable packages, by normalized name.
    """
    ReadableFinder.versions = versions
    sys.meta_path = [ReadableFinder if finder is PathFinder else finder for finder in sys.meta_path]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
