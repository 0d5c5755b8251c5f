"""How much memory a process has taken, measured from outside."""

import subprocess
import sys

import pytest

from grader.sandbox.process import Meter

TAKES = """
import mmap, sys
size, file = int(sys.argv[1]) << 20, open(sys.argv[2], "rb")
print("begun", flush=True)
input()
taken = bytearray(b"1" * 4096) * (size >> 12)
with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as read:
    sum(read[place] for place in range(0, len(read), 4096))
    print("taken", flush=True)
    input()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell files from the rest")
@pytest.mark.parametrize(("own", "of_files", "counted"), [(40, 8, 48), (40, 50, 56), (10, 150, 112)])
def test_what_is_read_of_files_counts_as_far_as_it_is_usual(own, of_files, counted, tmp_path):
    """A torch with CUDA brings in more of its code than one without, and the answers on memory are the same."""
    (tmp_path / "code").write_bytes(b"1" * (of_files << 20))
    command = [sys.executable, "-c", TAKES, str(own), str(tmp_path / "code")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begun\n"
        meter = Meter(process.pid)
        print(file=process.stdin, flush=True)
        assert process.stdout.readline() == "taken\n"
        meter.look()
        print(file=process.stdin, flush=True)
    assert counted - 2 <= meter.growth <= counted + 5
