"""What a worker may read of the installed packages: what torch and numpy need, and nothing that lies beside it."""

import os
from pathlib import Path

import pytest

from grader.sandbox import mounts

METADATA = "Metadata-Version: 2.1\nName: {}\nVersion: 1.0\n"


def install(site: Path, name: str, entries: list[str], requires=(), **files: str) -> None:
    """A distribution as an installer leaves it."""
    for entry in entries:
        place = site / entry
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch() if place.suffix else place.mkdir(exist_ok=True)
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    lines = "".join(f"Requires-Dist: {line}\n" for line in requires)
    (info / "METADATA").write_text(f"{METADATA.format(name)}{lines}\nRequires-Dist: only-in-the-description\n")
    for file, text in files.items():
        (info / file.replace("top_level", "top_level.txt")).write_text(text)


@pytest.fixture
def site(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(mounts, "_site_folders", lambda: [str(tmp_path / "site"), str(tmp_path / "second")])
    (tmp_path / "secret").mkdir()
    return tmp_path / "site"


def names() -> set[str]:
    return set(mounts.closure.__wrapped__())


def test_requirements_are_followed_as_far_as_they_hold_here(site):
    wanted = (
        "Needs.Other>=1",
        'extra-one; extra == "x"',
        'windows-one; sys_platform == "win32"',
        "not-installed",
        "a b c",
    )
    install(site, "torch", ["torch/__init__.py"], [*wanted, 'here-too; python_version >= "3"'])
    install(site, "needs-other", ["needs_other.py"], ["torch"])
    install(site.parent / "second", "here-too", ["differently_called/x.py"], RECORD="differently_called/x.py,,\n")
    for name in ("extra_one", "windows_one", "bystander", "only_in_the_description"):
        install(site, name, [f"{name}/__init__.py"])
    install(site, "numpy", ["numpy/__init__.py", "numpy.libs/x.so"])
    install(site, "einops", ["einops/__init__.py"])
    assert names() == {"torch", "needs_other.py", "differently_called", "numpy", "numpy.libs", "einops"}


@pytest.mark.parametrize("kind", ["top_level", "RECORD"])
def test_nothing_outside_a_package_is_given_away(site, kind):
    listed = ["torch", "..", ".", "", "../secret", "/etc", "torch-1.0.dist-info", "__pycache__", "torch/../../secret"]
    text = "\n".join(name if kind == "top_level" else f"{name}/file.py,sha256=,1" for name in listed)
    install(site, "torch", ["torch/__init__.py", "__pycache__/x.pyc", "site.pth"], **{kind: text + "\n"})
    install(site, "numpy", ["numpy/__init__.py"])
    install(site, "einops", ["einops/__init__.py"])
    found = mounts.closure.__wrapped__()
    assert set(found) == {"torch", "numpy", "einops"}
    assert all(os.path.dirname(place) == str(site) for place in found.values())


def test_a_folder_that_no_installer_wrote_down_is_found_by_its_name(site):
    for name in ("torch", "numpy", "einops", "nvidia", "stranger"):
        (site / name).mkdir(parents=True)
    assert names() == {"torch", "numpy", "einops", "nvidia"}


def test_here_it_holds_what_torch_imports():
    found = mounts.closure()
    assert {"torch", "numpy", "einops", "sympy", "mpmath", "jinja2", "markupsafe", "typing_extensions.py"} <= set(found)
    assert not {"pytest", "_pytest", "rich", "grader", "packaging", "pip"} & set(found)
    assert all(os.path.exists(place) for place in found.values())
