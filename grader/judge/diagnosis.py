"""Names a learner's mistake: runs the exercise's known wrong versions on the same calls.

A wrong version explains a failed check if it fails the same check and its answer to every call was the learner's.
Where none does, patterns.py says what can be said of a wrong answer in general.
"""

import torch

from grader.catalog import paths
from grader.judge import patterns, two_mistakes, used_functions
from grader.judge.failure import Failure, is_own
from grader.judge.measuring import TooMuchMemory
from grader.judge.mismatch import Mismatch
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.judge.trials import Trials
from grader.judge.wrong_versions import WrongVersion, WrongVersions
from grader.records import containment
from grader.records.results import OR
from grader.sandbox.remote import Remote

MAX_RUNS = 250  # of checks on wrong versions, for one submission
MAX_PAIRS = 400  # of wrong versions that are tried together, for one submission


class Diagnostician:
    """Explains failed checks, for one exercise in one session.

    tried: whether the last diagnosis tried something out with the submission, so that it holds for that one alone.
    """

    def __init__(self, session: Session):
        self.session, self.tried = session, False
        self.wrong_versions = WrongVersions(session)

    def sentences(
        self, failures: dict[str, Failure], passed: set[str], subject: Learner | None = None
    ) -> dict[str, str]:
        """A sentence for each failed check that can be explained.

        passed: the checks that passed; subject: the proxy of the submission, on which something may be tried out.
        """
        self.tried = False
        begun = {name: failure for name, failure in failures.items() if not failure.is_not_started}
        none: dict[str, list[WrongVersion]] = {}
        matches = containment.optional("the diagnosis", none, self.matches, begun, passed)
        matches |= containment.optional("the diagnosis of two mistakes", none, self.pairs, begun, passed, matches)
        sentences = {name: self.choose(versions, matches) for name, versions in matches.items()}
        for name, failure in begun.items():
            if not sentences.get(name):
                general = ("the pattern of a wrong answer", None, self.general, failure, failures, passed, subject)
                sentences[name] = containment.optional(*general)
                sentences[name] = sentences[name] or containment.optional(
                    "the functions that a function uses", None, self.of_what_it_uses, failure, begun, subject
                )
        return {name: sentence for name, sentence in sentences.items() if sentence}

    def matches(self, failures: dict[str, Failure], passed: set[str]) -> dict[str, list[WrongVersion]]:
        """The wrong versions that explain each failure.

        Where several do, those count that fail the fewest checks which the learner passed: none at best, but the
        learner's mistake may reach less far than each known one, or a second one hides it there.

        One mistake usually explains several checks, so what explained one check is tried first on the next. Then follow
        those that failed_checks.json lists for the check, and last the others, which may fail it with another seed. The
        number of runs is limited, so that code that nothing explains costs little time.
        """
        matches: dict[str, list[WrongVersion]] = {}
        earlier: list[WrongVersion] = []  # those that explained an earlier failure
        left = MAX_RUNS
        for name, failure in failures.items():
            if failure.check.measured:
                matches[name] = self.with_same_memory(failure, failures, passed)
                continue
            alike = self.wrong_versions.explaining(earlier, failure)
            for likely in (True, False):
                if not alike:
                    others = [wrong for wrong in self.wrong_versions.all if wrong not in earlier]
                    others = [wrong for wrong in others if wrong.may_fail(name) == likely][: max(left, 0)]
                    left -= len(others)
                    alike = self.wrong_versions.explaining(others, failure)
                    earlier += alike
            if len(alike) > 1:
                broken = {wrong: self.wrong_versions.broken(wrong, passed) for wrong in alike}
                fewest = min(broken.values())
                alike = {wrong: likeness for wrong, likeness in alike.items() if broken[wrong] == fewest}
            alike = {
                wrong: likeness for wrong, likeness in alike.items() if not self.blames_another(wrong, failure, passed)
            }
            closest = max(alike.values(), default=0)
            matches[name] = [wrong for wrong, likeness in alike.items() if likeness == closest]
        return matches

    def blames_another(self, wrong: WrongVersion, failure: Failure, passed: set[str]) -> bool:
        """Whether the sentence names a function that this check does not call, and whose own checks may have passed.

        The learner passed a check that the mistake fails: other code of the learner's does what that function does.
        """
        called = {call.function for call in failure.calls}
        named = [name for name in wrong.functions if name in wrong.sentence and name not in called]
        return bool(named) and self.wrong_versions.broken(wrong, passed) > 0

    def pairs(
        self, failures: dict[str, Failure], passed: set[str], matches: dict[str, list[WrongVersion]]
    ) -> dict[str, list[WrongVersion]]:
        """Two wrong versions in one, for each failure that none explains alone."""
        by_check: dict[str, list[WrongVersion]] = {}
        matched = {wrong for versions in matches.values() for wrong in versions}
        tried: dict[tuple[WrongVersion, WrongVersion], WrongVersion | None] = {}
        explained: list[WrongVersion] = []
        exercise = self.session.exercise
        unexplained = [
            name for name, failure in failures.items() if not matches.get(name) and not failure.check.measured
        ]
        unexplained.sort(
            key=lambda name: (failures[name].raised, len(failures[name].calls))
        )  # the shortest tells soonest
        for name in unexplained:
            failure = failures[name]
            by_check[name] = [both for both in explained if self.wrong_versions.fails_alike(both, failure)]
            for pair in two_mistakes.candidates(self.wrong_versions, failure, set(failures), passed, matched):
                if by_check[name] or len(tried) >= MAX_PAIRS:
                    break
                if failure.raised and not matched.issuperset(pair):
                    continue  # that an error has the same words is no proof of two mistakes that nothing else shows
                if pair not in tried:
                    tried[pair] = two_mistakes.joined(paths.solution(exercise.folder), exercise.slug, *pair)
                both = tried[pair]
                if both is not None and self.wrong_versions.fails_alike(both, failure):
                    by_check[name], explained = [both], [*explained, both]
        return by_check

    def with_same_memory(self, failure: Failure, failures: dict[str, Failure], passed: set[str]) -> list[WrongVersion]:
        """The wrong versions that take too much memory in the same checks as the learner's code, and in no others.

        failed_checks.json tells it: no wrong version is run, because it would take the memory of this process.
        """
        if not isinstance(failure.error, TooMuchMemory):
            return []
        measured = {check.id for check in self.session.checks if check.measured}
        mine = measured & failures.keys()
        listed = [(wrong, wrong.failed) for wrong in self.wrong_versions.all if wrong.failed is not None]
        return [wrong for wrong, failed in listed if failed & measured == mine and not failed & passed]

    def choose(self, versions: list[WrongVersion], matches: dict[str, list[WrongVersion]]) -> str | None:
        """The sentence of the version that explains most checks; two sentences where several explain as many."""
        if not versions:
            return None
        score = {wrong: sum(wrong in others for others in matches.values()) for wrong in versions}
        best = [wrong for wrong in versions if score[wrong] == max(score.values())]
        return OR.join(wrong.sentence for wrong in best[:2])

    def general(
        self, failure: Failure, failures: dict[str, Failure], passed: set[str], subject: Learner | None
    ) -> str | None:
        """A sentence without a known mistake: on the answer, on the other checks, or on a trial."""
        if not isinstance(failure.error, Mismatch) or is_own(failure):
            return self.trial(failure, passed, subject)
        sentence = patterns.describe(failure.error)
        if sentence and not self.contradicted(sentence, failure, failures):
            return sentence
        return patterns.of_checks(failure, failures, passed, self.session.checks) or self.trial(
            failure, passed, subject
        )

    def of_what_it_uses(self, failure: Failure, failures: dict[str, Failure], subject: Learner | None) -> str | None:
        """A sentence on a function that the learner's uses."""
        if subject is None:
            return None
        self.tried = True  # it holds for this source alone
        return used_functions.sentence(failure, failures, subject._connection.words)

    def contradicted(self, sentence: str, failure: Failure, failures: dict[str, Failure]) -> bool:
        """Whether a sentence on all values is not true of another wrong answer of the same function."""
        if not sentence.startswith(patterns.EVERY):
            return False
        function = failure.calls[-1].function
        others = [other for other in failures.values() if other.calls and other.calls[-1].function == function]
        errors = [other.error for other in others if isinstance(other.error, Mismatch) and other is not failure]
        return any(isinstance(error.got, torch.Tensor) and patterns.describe(error) != sentence for error in errors)

    def trial(self, failure: Failure, passed: set[str], subject: Learner | None) -> str | None:
        """A sentence that a trial shows to be true of a hidden check's failure."""
        if not failure.check.hidden or failure.check.measured or not failure.calls:
            return None
        if subject is None or subject._device != "cpu":  # the solution runs on the CPU only
            return None
        connection = subject._connection
        if not isinstance(connection, Remote):
            return None
        self.tried = True
        return Trials(self.session, subject, connection, passed).sentence(failure)
