"""Writing beside strangers' files: no link is followed, no name can be guessed, and nothing is half written."""

import os
import threading

import pytest
from raised import raised

from grader import reports
from grader.classroom import write
from grader.cli import teach
from grader.records import safe_files

WRITERS = {
    "bundles": lambda path: teach.write(path, b"text"),
    "results": lambda path: write._put(path, "text"),
    "reports": lambda path: reports.deliver("text", path),
    "all of them": lambda path: safe_files.write_whole(path, "text"),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_no_link_is_followed(writer, tmp_path):
    """The file itself, and each name that could be guessed for the new one, are links to what must stay as it is."""
    mine, folder = tmp_path / "mine", tmp_path / "student"
    mine.write_text("mine")
    folder.mkdir()
    path = folder / "result.json"
    for name in ("result.json", ".result.json.new", "result.json.new", f"result.json.{os.getpid()}.new", ".new"):
        (folder / name).symlink_to(mine)
    WRITERS[writer](path)
    assert mine.read_text() == "mine"
    assert path.read_text() == "text" and not path.is_symlink()
    assert len(list(folder.iterdir())) == 5


@pytest.fixture
def meanwhile(monkeypatch):
    """`meanwhile(act)`: does that where a name is drawn for the new file; "guessed" is the name."""

    def arrange(act) -> None:
        monkeypatch.setattr(safe_files.secrets, "token_hex", lambda size: (act(), "guessed")[1])

    return arrange


def test_a_folder_that_becomes_a_link_meanwhile_gets_nothing(tmp_path, meanwhile):
    """The folder is opened once: what is exchanged afterwards is another folder."""
    folder, elsewhere, kept = tmp_path / "student", tmp_path / "elsewhere", tmp_path / "kept"
    folder.mkdir()
    elsewhere.mkdir()
    meanwhile(lambda: folder.rename(kept) and folder.symlink_to(elsewhere))
    safe_files.write_whole(folder / "result.json", "text")
    assert not list(elsewhere.iterdir()) and (kept / "result.json").read_text() == "text"


def test_a_name_that_somebody_guessed_is_refused(tmp_path, meanwhile):
    mine = tmp_path / "mine"
    mine.write_text("mine")
    meanwhile(lambda: (tmp_path / ".guessed.new").symlink_to(mine))
    raised(FileExistsError, safe_files.write_whole, tmp_path / "result.json", "text")
    assert mine.read_text() == "mine"


def test_what_cannot_be_written_leaves_the_old_file_and_nothing_else(tmp_path):
    (tmp_path / "place").mkdir()
    (tmp_path / "place/within").write_text("")
    for place in ("place", "missing/result.json"):
        raised(OSError, safe_files.write_whole, tmp_path / place, "text")
    assert [path.name for path in tmp_path.iterdir()] == ["place"]


def test_a_pipe_in_the_files_place_does_not_stop_us(tmp_path):
    os.mkfifo(tmp_path / "result.json")
    writing = threading.Thread(target=reports.deliver, args=("text", tmp_path / "result.json"), daemon=True)
    writing.start()
    writing.join(20)
    assert (tmp_path / "result.json").is_file() and not writing.is_alive()


def test_the_mode_and_the_text_are_those_asked_for(tmp_path):
    safe_files.write_whole(tmp_path / "result.json", "a\udcff\n", mode=0o600, durable=True)
    assert (tmp_path / "result.json").read_bytes() == b"a\\udcff\n"
    assert (tmp_path / "result.json").stat().st_mode & 0o777 == 0o600
