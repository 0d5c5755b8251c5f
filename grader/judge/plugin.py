"""Plain pytest on the checks of an exercise, for their authors; grader/checks/conftest.py loads it.

    python -m pytest grader/checks/03_context_vectors --submission my.py -k large --pdb

Without --submission the exercise's own file is taken: what `make check` grades.
"""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from grader import catalog
from grader.catalog import paths
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.judge import messages
from grader.judge.collection import MARKER, Check
from grader.judge.compare import Mismatch
from grader.judge.examiner import Examiner
from grader.judge.session import FIXTURES, Session
from grader.records import submission
from grader.records.results import Settings
from grader.sandbox.call_results import LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.remote import Remote


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the checks."""
    parser.addoption("--submission", type=Path, help="the file to grade; default: the exercise's own")
    parser.addoption("--seed", type=int, default=1, help="of the fresh inputs; default: 1")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark of the checks. A file that cannot be read is said once, and not again for each check."""
    config.addinivalue_line("markers", MARKER)
    if path := config.getoption("--submission"):
        try:
            submission.read(path)
        except (BadSubmission, NoSuchFile) as error:
            raise pytest.UsageError(str(error)) from None


def pytest_report_header(config: pytest.Config) -> str:
    """Say what is graded, and on which inputs."""
    path = config.getoption("--submission") or "the exercise’s own file"
    return f"submission: {path}, seed {config.getoption('--seed')}"


def _file_graded(node: pytest.Item) -> Path:
    """The file that this check grades."""
    return node.config.getoption("--submission") or paths.stub(node.path.parent.name)


@pytest.fixture(scope="session")
def kata_fork_server() -> Iterator[ForkServer]:
    """The fork server of the whole run."""
    with ForkServer() as fork_server:
        yield fork_server


@pytest.fixture
def kata_session(request: pytest.FixtureRequest, kata_fork_server: ForkServer) -> Iterator[Session]:
    """A session with the submission as its subject, at the beginning of this check."""
    exercise = catalog.read(request.path.parent.name)
    session = Session(exercise, request.config.getoption("--seed"))
    examiner = Examiner(session, kata_fork_server, Settings(seed=session.seed))
    remote = Remote(kata_fork_server, submission.read(_file_graded(request.node)), exercise.slug, examiner.limits)
    session.begin(Check.of(request.node), examiner.subject(remote))
    yield session
    remote.close()


def _fixture(name: str) -> Callable[..., object]:
    @pytest.fixture(name=name)
    def fixture(request: pytest.FixtureRequest, kata_session: Session) -> object:
        return FIXTURES[name](kata_session, request.node.name.removeprefix("test_"))

    fixture.__doc__ = FIXTURES[name].__doc__
    return fixture


globals().update({f"fixture_{name}": _fixture(name) for name in FIXTURES})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the learner's message before the traceback."""
    report: pytest.TestReport = yield
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, (LearnerError, Mismatch)):
        failed_call = error.call if isinstance(error, LearnerError) else None
        file = submission.Submission("", paths.shown(_file_graded(item)))
        report.sections.append(("what the learner reads", messages.failure(error, failed_call, file)))
    return report
