"""Names a learner's mistake, check by check.

The known mistakes of the exercise are run on the same calls (wrong_versions.py, explanations.py). A mistake explains a
failed check if it fails the same check and its answer to every call was the learner's. If none does, more general
sentences are tried: on the error, on the answer, on the source, and on what a trial shows.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import islice

import torch

from grader.judge import claims, explanations, general_sentences, patterns, trials
from grader.judge.compare import FORBIDDEN, Mismatch, outline
from grader.judge.failure import Failure, finds_no_number_wrong, is_blank, is_of_dtype, is_own
from grader.judge.measuring import NotForAGpu, TooMuchMemory
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.judge.wrong_versions import NOT, WrongVersion, WrongVersions
from grader.records import containment, source
from grader.records.results import FIX_FIRST, OR
from grader.records.source import SourceWords
from grader.sandbox.call_results import LearnerError
from grader.sandbox.remote import Remote

METHODS = ("__init__", "forward")
MAX_PAIRS = 130  # of wrong versions that are tried together, for one submission


def sentence(
    failure: Failure, failures: Mapping[str, Failure], words: SourceWords, is_explained: bool = False
) -> str | None:
    """The sentence on a wrong function that the function of this failed check uses; None where there is none.

    words: of the learner's source. An object of the learner's that a function is given is used by it too, unless the
    check is_explained by a mistake in the function alone. Functions that use each other say nothing, and nothing is
    said of one that is not there, or cannot be called.
    """
    function = failure.last_called
    if not failure.is_there or getattr(failure.error, "kind", "") in ("timeout", "signature"):
        return None
    if failure.raised and _raised_itself(failure, function) and not _may_come_from_below(failure):
        return None
    failed_functions = dict.fromkeys(
        name
        for other_failure in failures.values()
        if other_failure.way[1] in ("output", failure.way[1])  # wrong gradients do not make values wrong
        and (is_of_dtype(failure) or not is_of_dtype(other_failure))  # nor does float32 in place of float64
        and getattr(other_failure.error, "kind", "") != "missing"  # what is there under that name is another one
        for name in _its_own(other_failure)
        if name != function
    )
    called_classes = {name for call in failure.calls if (name := call.function.partition(".")[0])[:1].isupper()}
    objects = set() if is_explained else called_classes
    backward = failure.way[1] != "output"
    used_names = words.uses(function, backward) if function and failed_functions else frozenset()
    for name in failed_functions:
        if function and name in used_names | objects and function not in words.uses(name):
            return f"{function} {'uses' if name in used_names else 'is tried with'} {name}{FIX_FIRST}{name} first."
    return None


class Diagnostician:
    """Explains failed checks, for one exercise in one session."""

    def __init__(self, session: Session):
        self.session = session
        self.wrong_versions = WrongVersions(session)

    def sentences(self, failures: dict[str, Failure], passed: set[str], subject: Learner) -> dict[str, str]:
        """A sentence for each failed check that can be explained.

        passed: the checks that passed; subject: the proxy of the submission, on which something may be tried out.
        """
        self.subject, self.words = subject, subject._connection.words
        self.wrong_versions.begin()
        begun = {name: failure for name, failure in failures.items() if not failure.is_not_started}
        no_matches: dict[str, list[WrongVersion]] = {}
        matches = containment.optional("the diagnosis", no_matches, self.matches, begun, passed)
        matches |= containment.optional("the diagnosis of two mistakes", no_matches, self.pairs, begun, passed, matches)
        sentences = {name: self.choose(versions, matches, begun[name]) for name, versions in matches.items()}
        for name, failure in begun.items():
            used = ("the functions that a function uses", None, self.of_what_it_uses, failure, begun, matches)
            sentences[name] = containment.optional(*used) or sentences.get(name)
            if not sentences[name]:
                general = ("the pattern of a wrong answer", None, self.general, failure, failures, passed)
                sentences[name] = containment.optional(*general)
        return {name: sentence for name, sentence in sentences.items() if sentence}

    def matches(self, failures: dict[str, Failure], passed: set[str]) -> dict[str, list[WrongVersion]]:
        """The wrong versions that explain each failure.

        Where several do, those count that fail the fewest checks which the learner passed: none at best, but the
        learner's mistake may reach less far than each known one, or a second one hides it there.
        """
        versions = self.wrong_versions
        candidates = explanations.singles(versions, failures, passed)
        matches: dict[str, list[WrongVersion]] = {}
        for name, failure in failures.items():
            if failure.check.measured:
                matches[name] = self.with_same_memory(failure, failures, passed)
                continue
            explaining = self.not_contradicted(versions.explaining(candidates, failure))
            fewest = min((version.broken(passed) for version in explaining), default=0)
            if fewest and finds_no_number_wrong(failure):
                explaining = {}  # the same words are no proof against a check that was passed
            explaining = {
                version: likeness
                for version, likeness in explaining.items()
                if version.broken(passed) == fewest and not self.blames_another(version, failure, passed)
            }
            closest = max(explaining.values(), default=0)
            matches[name] = [version for version, likeness in explaining.items() if likeness == closest]
        return matches

    def not_contradicted(self, versions: dict[WrongVersion, int]) -> dict[WrongVersion, int]:
        """The versions without those whose sentence claims what the learner's source does not hold."""
        return {one: degree for one, degree in versions.items() if not claims.contradicted(one, self.words.source)}

    def blames_another(self, version: WrongVersion, failure: Failure, passed: set[str]) -> bool:
        """Whether the mistake is in a function that this check does not call, and whose own checks may have passed.

        The learner passed a check that the mistake fails: other code of the learner's does what that function does.
        Where numbers are wrong, that counts only if the sentence names the function. An error is weaker evidence, since
        many mistakes raise the same one: then the methods that the mistake changes must not all be right. A function
        that uses what is forbidden is named by its line.
        """
        called = {call.function for call in failure.calls}
        functions = [name for name in version.definitions if "." not in name and name not in called]
        named_functions = [name for name in functions if name in version.sentence]
        is_elsewhere = failure.raised and not version.changed & {name.partition(".")[0] for name in called}
        if (named_functions or is_elsewhere) and version.broken(passed) > 0:
            return True
        if failure.uses_at:
            user = self.words.function_at(failure.uses_at)[2]
            asked_for = source.outline(self.wrong_versions.solution.source)["arguments"].get(user)
            return user not in version.changed and asked_for is not None
        return False

    def pairs(
        self, failures: dict[str, Failure], passed: set[str], matches: dict[str, list[WrongVersion]]
    ) -> dict[str, list[WrongVersion]]:
        """Two wrong versions in one, for each failure that none explains alone."""
        versions = self.wrong_versions
        matched = Counter(version for versions_of_check in matches.values() for version in versions_of_check)
        tellable = self.not_contradicted(dict.fromkeys(versions.all, NOT)).keys()
        joined_pairs: dict[tuple[WrongVersion, WrongVersion], WrongVersion | None] = {}
        explaining_pairs: list[WrongVersion] = []
        unexplained = [failed for name, failed in failures.items() if not (matches.get(name) or failed.check.measured)]
        unexplained.sort(key=lambda failed: (failed.raised, len(failed.calls)))  # the shortest tells soonest
        for failure in unexplained:
            if versions.explaining(explaining_pairs, failure):
                continue
            # The same words of an error, or NaN, are no proof of two mistakes.
            proves_little = failure.raised or is_blank(failure)
            every_pair = explanations.pairs(versions, failure.check.id, set(failures), passed, matched)
            candidates = (pair for pair in every_pair if tellable >= set(pair))
            for pair in islice(candidates, max(0, MAX_PAIRS - len(joined_pairs))):
                if proves_little and not matched.keys() >= set(pair):
                    continue
                if pair not in joined_pairs:
                    joined_pairs[pair] = explanations.join(versions, *pair)
                joined_pair = joined_pairs[pair]
                if joined_pair is not None and self.explains(joined_pair, failure, failures):
                    explaining_pairs.append(joined_pair)
                    break
        by_check = {
            failure.check.id: list(self.not_contradicted(versions.explaining(explaining_pairs, failure)))
            for failure in unexplained
        }
        counts = Counter(joined_pair for explaining in by_check.values() for joined_pair in explaining)
        return {name: sorted(found, key=lambda pair: -counts[pair])[:1] for name, found in by_check.items()}

    def explains(self, pair: WrongVersion, failure: Failure, failures: dict[str, Failure]) -> bool:
        """Whether two mistakes explain a failure, and each wrong number of its function where one of them should show.

        Two of a hundred mistakes are easily found that give the numbers of one example alone.
        """
        explaining = self.wrong_versions.explaining
        others = (
            other
            for other in failures.values()
            if other.way == failure.way and any(part.may_fail(other.check.id) for part in pair.parts)
        )
        explains_it = bool(self.not_contradicted(explaining([pair], failure)))
        return explains_it and all(explaining([pair], other) for other in others)

    def with_same_memory(self, failure: Failure, failures: dict[str, Failure], passed: set[str]) -> list[WrongVersion]:
        """The wrong versions that take too much memory in the same checks as the learner's code, and in no others.

        failed_checks.json tells it: no wrong version is run, because it would take the memory of this process.
        """
        if not isinstance(failure.error, (TooMuchMemory, NotForAGpu)):
            return []
        measured = {check.id for check in self.session.checks if check.measured}
        own_failed = measured & failures.keys()
        versions = self.wrong_versions.all
        tellable = self.not_contradicted(dict.fromkeys(versions, NOT))
        listed = [(version, failed) for version in tellable if (failed := version.not_passed) is not None]
        return [version for version, failed in listed if failed & measured == own_failed and not failed & passed]

    def choose(
        self, versions: list[WrongVersion], matches: dict[str, list[WrongVersion]], failure: Failure
    ) -> str | None:
        """The sentence of the version that explains most checks, perhaps with another one; two where several do.

        Of several, that one which fails on a line like the learner's, and whose diff is most like the learner's source.
        """
        if not versions:
            return None
        score = {
            version: sum(
                version in matched_versions or any(version in matched.parts for matched in matched_versions)
                for matched_versions in matches.values()
            )
            for version in versions
        }
        best = [version for version in versions if score[version] == max(score.values())]
        best = self.wrong_versions.nearest(best, failure)
        if len(best) > 1:
            support = {version: claims.support(version, self.words.source) for version in best}
            best = [version for version in best if support[version] == max(support.values())]
        return OR.join(version.sentence for version in best[:2])

    def general(self, failure: Failure, failures: dict[str, Failure], passed: set[str]) -> str | None:
        """A sentence without a known mistake: on the error, on the answer, on the other checks, or on a trial."""
        error = failure.error
        if certain := _certain(failure, failures) or self.of_source(failure):
            return certain
        if not isinstance(error, Mismatch) or is_own(failure):
            return self.trial(failure) or self.of_sizes(failure, failures)
        pattern = patterns.describe(error)
        if pattern and not self.contradicted(pattern, failure, failures):
            return pattern
        return patterns.of_checks(failure, failures, passed) or self.trial(failure)

    def of_sizes(self, failure: Failure, failures: dict[str, Failure]) -> str | None:
        """A sentence on sizes that do not fit; on factors only where the function gives no wrong numbers elsewhere."""
        sentence = general_sentences.of_sizes(failure.error)
        others = [other for other in failures.values() if other.last_called == failure.last_called]
        fits_elsewhere = any(isinstance(other.error, Mismatch) for other in others)
        return None if fits_elsewhere and sentence == general_sentences.SIZES_OF_FACTORS else sentence

    def of_source(self, failure: Failure) -> str | None:
        """A sentence on the source alone, or on the source and an error in it."""
        if isinstance(failure.error, Mismatch):
            return general_sentences.of_source(failure, self.words)
        error = general_sentences.of_error(failure.error, self.words.source, self.session.exercise.folder[:2])
        return error or general_sentences.of_source(failure, self.words)

    def of_what_it_uses(
        self, failure: Failure, failures: dict[str, Failure], matches: dict[str, list[WrongVersion]]
    ) -> str | None:
        """A sentence on a function that the learner's uses."""
        own = matches.get(failure.check.id, [])
        told = {version for versions in matches.values() for version in versions}
        for pair in own:
            parts_of_it = [part for part in pair.parts if part.changed == {failure.last_called}]
            if len(parts_of_it) == 1 and told.issuperset({*pair.parts} - {*parts_of_it}):
                return parts_of_it[0].sentence  # only both explain it, and another check names the other
        is_own_alone = any(one.changed == {failure.last_called} for one in own)
        return sentence(failure, failures, self.words, is_own_alone and not is_blank(failure))

    def contradicted(self, pattern: str, failure: Failure, failures: dict[str, Failure]) -> bool:
        """Whether a sentence on all values is not true of another wrong answer of the same function."""
        errors = [other.error for other in failures.values() if other.way[0] == failure.way[0]]
        told = {patterns.describe(error) for error in errors if isinstance(getattr(error, "got", None), torch.Tensor)}
        return pattern.startswith(patterns.EVERY) and told != {pattern}

    def trial(self, failure: Failure) -> str | None:
        """A sentence on a hidden check whose calls are answered otherwise where they come first."""
        if not failure.check.hidden or failure.check.measured or not failure.calls:
            return None
        connection = self.subject._connection
        if self.subject._device != "cpu" or not isinstance(connection, Remote):
            return None
        return trials.sentence(self.session, failure, self.subject, connection)


def _certain(failure: Failure, failures: dict[str, Failure]) -> str:
    """What a check says for certain; "" for a call that fails as calls do which should not be refused."""
    problem = failure.calls[-1].problem if failure.calls else None
    others = [other.error for other in failures.values() if isinstance(other.error, LearnerError)]
    if problem is not None and any(outline(other) == outline(problem) for other in others):
        return ""
    return failure.error.cause if isinstance(failure.error, Mismatch) else ""


def _may_come_from_below(failure: Failure) -> bool:
    """Whether an exception is as likely the fault of what a function uses: sizes that do not fit, or None."""
    facts = failure.error.facts if isinstance(failure.error, LearnerError) else {}
    return bool(general_sentences.of_sizes(failure.error)) or "NoneType" in str(facts.get("message", ""))


def _raised_itself(failure: Failure, function: str) -> bool:
    """Whether the exception comes from a line of the function's own, or of the class's, and not of what it uses."""
    name = failure.error.frame[1] if isinstance(failure.error, LearnerError) else ""
    return name == function or (function[:1].isupper() and name in METHODS)


def _its_own(failure: Failure) -> set[str]:
    """The function that the check calls, where it calls one alone: it is a check of that function."""
    if isinstance(failure.error, Mismatch) and failure.error.summary.startswith(FORBIDDEN):
        return set()  # its answers may be right
    called_functions = {call.function.partition(".")[0] for call in failure.calls}
    return called_functions if len(called_functions) == 1 else set()
