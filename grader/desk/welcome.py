"""What make alone says: hello, what is next, and what is due."""

from rich.console import Console
from rich.text import Text

from grader import catalog
from grader.catalog import paths, project
from grader.desk import ending, progress
from grader.records import containment

HELLO = "Attention, by hand"
FIRST_TIME = (
    "Welcome! Here you write attention yourself, from the first dot product to a model that tells a story. You "
    "write functions in PyTorch. Each time you save, the grader says what works, which mistake you made and on which "
    "line."
)
NO_WARM_UP = "You know PyTorch well? Begin with {number}: make start EX={number}"
OTHERS = "All commands: make help"


def show(console: Console) -> None:
    """Print the welcome."""
    states = progress.load()
    exercises = catalog.by_path()
    passed = sum(states.get(one.folder, progress.State()).done for one in exercises)
    following = ending.open_exercise(states=states)
    parts: list[Text] = [Text(HELLO, "bold"), Text()]
    if following is None:  # the closing says that all is passed
        parts.append(Text("Welcome back!"))
    elif any(state.status != "not started" for state in states.values()):
        parts.append(Text(f"Welcome back! You have passed {passed} of {len(exercises)} exercises."))
    else:
        parts.append(Text(FIRST_TIME))
    parts.append(Text())
    if following is not None:
        lesson, stub = (paths.shown(file(following.folder)) for file in (paths.lesson, paths.stub))
        name = f"{following.folder[:2]} {following.title}"
        parts += [
            Text.assemble("Next is ", (name, "bold"), f", in the path “{following.path.name}”."),
            Text.assemble("  1  read    ", (lesson, "cyan")),
            Text.assemble("  2  write   ", (stub, "cyan")),
            Text.assemble("  3  type    ", ("make start", "bold cyan"), "   and leave it open beside your editor"),
            Text(),
        ]
        first = next((one for one in exercises if not one.path.warm_up), None)
        if following.path.warm_up and first is not None:
            parts.append(Text(NO_WARM_UP.format(number=first.folder[:2]), "dim"))
    parts += [Text(line) for line in closing(states) if not line.startswith("Next:")]
    parts.append(Text(OTHERS, "dim"))
    for part in parts:
        console.print(part, soft_wrap=not console.is_terminal)


def closing(states: dict[str, progress.State] | None = None) -> list[str]:
    """The last lines of every overview: what to type next, and which questions are due."""
    from grader.desk import review

    number = containment.optional("the questions that are due", 0, lambda: len(review.due(review.schedule())))
    return [line for line in (ending.next_step(states=states), review.count(number), _behind()) if line]


def _behind() -> str:
    """That kata is newer than what this learner's folder was given; "" where it is not, and in a clone."""
    if paths.LEARNERS is None or paths.MARKER.read_text("utf-8", errors="replace").strip() == project.version():
        return ""
    return f"kata is now {project.version()}. For its lessons and stubs, with your code kept, type: make update"
