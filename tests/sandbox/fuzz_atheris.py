"""Coverage-guided fuzzing of the wire: pip install atheris; python tests/sandbox/fuzz_atheris.py -max_total_time=300

libFuzzer looks for bytes that reach new lines of the decoder, where fuzz_wire.py mutates blindly.
"""

import sys
import tempfile
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]
with atheris.instrument_imports(
    include=["json", "grader.worker.wire", "grader.worker.codec", "grader.worker.protocol"]
):
    import frames


def main() -> None:
    with tempfile.TemporaryDirectory() as corpus:
        for number, body in enumerate(frames.honest()):
            (Path(corpus) / str(number)).write_bytes(body)
        atheris.Setup([*sys.argv, corpus], lambda data: bool(frames.survive(data)) and None)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
