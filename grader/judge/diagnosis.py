"""Names a learner's mistake: runs the exercise's known wrong versions on the same calls.

A wrong version explains a failed check if it fails the same check and its answer to every call was the learner's.
Where none does, patterns.py says what can be said of a wrong answer in general.
"""

import re
from collections import Counter
from functools import cached_property
from itertools import combinations, islice

from grader.judge import one_mistake, two_mistakes, weak_examples
from grader.judge.failure import Failure, says_little
from grader.judge.following import NOT
from grader.judge.general_sentences import GeneralSentences
from grader.judge.measuring import TooMuchMemory
from grader.judge.proxy import Learner
from grader.judge.sentence_claims import Claims
from grader.judge.session import Session
from grader.judge.where import guidance
from grader.judge.wrong_versions import WrongVersion, WrongVersions
from grader.records import containment
from grader.records.results import OR
from grader.records.source import SourceWords

MAX_PAIRS = 100  # of wrong versions that are tried together, for one submission
MAX_RECOMBINED = 15  # of their parts


class Diagnostician(GeneralSentences):
    """Explains failed checks, for one exercise in one session."""

    def __init__(self, session: Session):
        super().__init__(session)
        self.wrong_versions = WrongVersions(session)
        self.words: SourceWords | None = None  # of the submission's source

    @cached_property
    def claims(self) -> Claims:
        """What the sentences of the known mistakes claim about the source."""
        return Claims(self.wrong_versions.solution.source)

    def sentences(
        self, failures: dict[str, Failure], passed: set[str], subject: Learner | None = None
    ) -> dict[str, str]:
        """A sentence for each failed check that can be explained.

        passed: the checks that passed; subject: the proxy of the submission, on which something may be tried out.
        """
        self.tried = False
        self.wrong_versions.begin()
        self.words = subject._connection.words if subject is not None else None
        begun = {name: failure for name, failure in failures.items() if not failure.is_not_started}
        no_matches: dict[str, list[WrongVersion]] = {}
        matches = containment.optional("the diagnosis", no_matches, self.matches, begun, passed)
        matches |= containment.optional("the diagnosis of two mistakes", no_matches, self.pairs, begun, passed, matches)
        matches = one_mistake.without_disproved(matches, begun)
        matches |= containment.optional("the trial of a mistake", no_matches, self.tried_again, begun, matches, subject)
        sentences = {name: self.choose(versions, matches, subject) for name, versions in matches.items()}
        for name, failure in begun.items():
            used = ("the functions that a function uses", None, self.of_what_it_uses, failure, begun, subject)
            sentences[name] = containment.optional(*used) or sentences.get(name)
            if not sentences[name]:
                general = ("the pattern of a wrong answer", None, self.general, failure, failures, passed, subject)
                sentences[name] = containment.optional(*general)
        return {name: sentence for name, sentence in sentences.items() if sentence}

    def matches(self, failures: dict[str, Failure], passed: set[str]) -> dict[str, list[WrongVersion]]:
        """The wrong versions that explain each failure.

        Where several do, those count that fail the fewest checks which the learner passed: none at best, but the
        learner's mistake may reach less far than each known one, or a second one hides it there.
        """
        versions = self.wrong_versions
        candidates = one_mistake.candidates(versions, failures, passed)
        matches: dict[str, list[WrongVersion]] = {}
        for name, failure in failures.items():
            if failure.check.measured:
                matches[name] = self.with_same_memory(failure, failures, passed)
                continue
            explaining = self.not_contradicted(versions.explaining(candidates, failure))
            fewest = min((version.broken(passed) for version in explaining), default=0)
            explaining = {
                version: likeness
                for version, likeness in explaining.items()
                if version.broken(passed) == fewest and not self.blames_another(version, failure, passed)
            }
            closest = max(explaining.values(), default=0)
            matches[name] = [version for version, likeness in explaining.items() if likeness == closest]
        return one_mistake.without_chance(matches, failures)

    def not_contradicted(self, versions: dict[WrongVersion, int]) -> dict[WrongVersion, int]:
        """The versions without those whose sentence claims what the learner's source does not hold."""
        if self.words is None:
            return versions
        self.tried = self.tried or any(self.claims.of(part) for one in versions for part in one.parts or (one,))
        return {one: degree for one, degree in versions.items() if not self.claims.contradicted(one, self.words)}

    def is_confirmed(self, version: WrongVersion) -> bool:
        """Whether the learner's source holds what the sentence claims, and it claims something."""
        return self.words is not None and self.claims.confirmed(version, self.words)

    def blames_another(self, version: WrongVersion, failure: Failure, passed: set[str]) -> bool:
        """Whether the sentence names a function that this check does not call, and whose own checks may have passed.

        The learner passed a check that the mistake fails: other code of the learner's does what that function does.
        """
        called = {call.function for call in failure.calls}
        named_functions = [name for name in version.functions if name in version.sentence and name not in called]
        return bool(named_functions) and version.broken(passed) > 0

    def pairs(
        self, failures: dict[str, Failure], passed: set[str], matches: dict[str, list[WrongVersion]]
    ) -> dict[str, list[WrongVersion]]:
        """Two wrong versions in one, for each failure that none explains alone."""
        versions = self.wrong_versions
        matched = Counter(version for versions_of_check in matches.values() for version in versions_of_check)
        confirmed = lambda one: one in matched or self.is_confirmed(one)  # noqa: E731
        joined_pairs: dict[tuple[WrongVersion, WrongVersion], WrongVersion | None] = {}
        explaining_pairs: list[WrongVersion] = []
        unexplained = [failed for name, failed in failures.items() if not (matches.get(name) or failed.check.measured)]
        unexplained.sort(key=lambda failed: (failed.raised, len(failed.calls)))  # the shortest tells soonest
        for failure in unexplained:
            if versions.explaining(explaining_pairs, failure):
                continue
            all_of_it = [failure, *(other for other in unexplained if other is not failure)]
            candidates = two_mistakes.candidates(versions, all_of_it, set(failures), passed, matched)
            for pair in islice(candidates, max(0, MAX_PAIRS - len(joined_pairs))):
                if (failure.raised or says_little(failure)) and not all(map(confirmed, pair)):
                    continue  # the same words of an error, NaN or two whole numbers are no proof of two mistakes
                if pair not in joined_pairs:
                    joined_pairs[pair] = two_mistakes.joined(versions, *pair)
                joined_pair = joined_pairs[pair]
                if joined_pair is not None and self.not_contradicted(versions.explaining([joined_pair], failure)):
                    explaining_pairs.append(joined_pair)
                    break
        explaining_pairs += self.recombined(explaining_pairs, joined_pairs)
        by_check = {
            failure.check.id: list(self.not_contradicted(versions.explaining(explaining_pairs, failure)))
            for failure in unexplained
        }
        counts = Counter(joined_pair for explaining in by_check.values() for joined_pair in explaining)
        return {name: sorted(found, key=lambda pair: -counts[pair])[:1] for name, found in by_check.items()}

    def tried_again(
        self, failures: dict[str, Failure], matches: dict[str, list[WrongVersion]], subject: Learner | None
    ) -> dict[str, list[WrongVersion]]:
        """What explains a special input alone, as far as it is borne out: see weak_examples."""
        connection = self.worker_of(subject)
        if connection is None:
            return {}
        names = list(weak_examples.doubtful(matches, failures))
        self.tried = self.tried or bool(names)
        kept = {name: weak_examples.kept(self.session, matches[name], failures[name], connection) for name in names}
        return kept | {name: [] for name in weak_examples.unsupported(matches | kept, failures)}

    def recombined(
        self, pairs: list[WrongVersion], tried_pairs: dict[tuple[WrongVersion, WrongVersion], WrongVersion | None]
    ) -> list[WrongVersion]:
        """The parts of several pairs in other pairs: one of these may explain more than each of them.

        What answers alike in one check, as a softmax along dim 0 and along dim -2 of a matrix, differs in the next.
        """
        parts = list(dict.fromkeys(part for both in pairs for part in both.parts)) if len(pairs) > 1 else []
        earlier_pairs = set(map(frozenset, tried_pairs))
        new_pairs = [pair for pair in combinations(parts, 2) if frozenset(pair) not in earlier_pairs][:MAX_RECOMBINED]
        joined = [two_mistakes.joined(self.wrong_versions, *pair) for pair in new_pairs]
        return [both for both in joined if both is not None]

    def with_same_memory(self, failure: Failure, failures: dict[str, Failure], passed: set[str]) -> list[WrongVersion]:
        """The wrong versions that take too much memory in the same checks as the learner's code, and in no others.

        failed_checks.json tells it: no wrong version is run, because it would take the memory of this process.
        """
        if not isinstance(failure.error, TooMuchMemory):
            return []
        measured = {check.id for check in self.session.checks if check.measured}
        own_failed = measured & failures.keys()
        versions = self.wrong_versions.all
        listed = [
            (version, version.not_passed)
            for version in self.not_contradicted(dict.fromkeys(versions, NOT))
            if version.not_passed is not None
        ]
        return [version for version, failed in listed if failed & measured == own_failed and not failed & passed]

    def choose(
        self, versions: list[WrongVersion], matches: dict[str, list[WrongVersion]], subject: Learner | None
    ) -> str | None:
        """The sentence of the version that explains most checks, perhaps with another one; two where several do.

        Of several, one whose words the learner's source has none of is told only where that is so of all.
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
        if len(best) > 1 and subject is not None:
            self.tried, written = True, set(re.findall(r"\w+", subject.source))
            solution = self.wrong_versions.solution.source
            own_words = {version: guidance.of(version.source, solution).alone for version in best}
            best = [version for version in best if not own_words[version] or own_words[version] & written] or best
        return OR.join(version.sentence for version in best[:2])
