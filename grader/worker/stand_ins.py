"""Stand-ins for the functions that IPython provides in every cell without an import. They have no effect."""


def display(*objects: object, **options: object) -> None:
    """Accept any arguments and show nothing."""


def get_ipython() -> "Shell":
    """The stand-in for the IPython shell."""
    return SHELL


class Shell:
    """A shell each of whose methods accepts any arguments and returns None."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return display


SHELL = Shell()
