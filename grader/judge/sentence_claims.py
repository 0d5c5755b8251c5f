"""Compares what the sentence of a known mistake claims about the code with the learner's own source.

A sentence names calls, dimensions and numbers. Those that are in the mistake's file and not in the solution are claims
about what was written; those that are in the solution say what to do instead. A claim that the learner's source does
not bear out makes the sentence false, however well the answers fit, and so does a definition that is the solution's.
"""

import re
from collections.abc import Collection, Iterable

from grader.judge.wrong_versions import WrongVersion
from grader.records import source
from grader.records.source import SourceWords

CALL = re.compile(r"(\w+)\(([^()]*)\)")
CODE = re.compile(r"\w+\.(\w+)|\b(\w+)\(|`(\w+)`|\b([a-z]+_\w*|\w+_[a-z]\w*)\b")  # torch.zeros, len(…), masked_fill
NUMBER = re.compile(r"(?<![\w.^√])[-−]?\d[\d,]*(?:\.\d+)?(?!\w)")
DIMS = re.compile(r"\b[Dd]im(?:ension)?s? ((?:[-−]?\d|zero|one|two|three)(?: and [-−]?\d)?)\b")
WORDS_FOR_NUMBERS = {"zero": "0", "one": "1", "two": "2", "three": "3"}
LEAST_DIGITS = 2  # of a number that is no dimension: others are words of the language, as in “sums to 1”
SPOKEN = {  # what a sentence says in plain words, and one token at least of a source that does so
    r"\bdoes not keep (its result|what)": re.escape(source.UNKEPT),
    r"\breshape[sd]\b|\b(by|with) (a |one )?reshape\b": r"reshape(_as)?|view(_as)?|(un)?flatten|ravel|resize_",
    r"\bclamp(s|ed)\b": r"clamp_?|clamp_max|clip_?|minimum|min|hardtanh|where",
    r"\beinsum\b(?! or)": "einsum",
    r"\b[Tt]he mask compares\b": "mask",
    r"\bcalls a ready-made softmax|\bfrom torch.s ready-made softmax": r"(log_?)?(softmax|softmin)|(Log)?Softm(ax|in)",
    r"\bnumpy\b": "numpy|np|from_numpy",
    r"\bsets? the seed\b|\bseeds the|\bseed is set\b": "manual_seed|seed|set_rng_state",
    r"\brandom scores\b": r"(rand|randn|randint)(_like)?|normal_|uniform_",
    r"\bfrom (Python )?numbers\b": r"(as_)?tensor|(Float)?Tensor|numpy|item|tolist|float",
    r"\btakes exp of|\bexp over sum of exp|\bsoftmax by hand\b": r"exp_?|exp2|e|pow",
    r"\b(subtracts|subtract) the mean\b": "mean",
    r"\bsubtracts the minimum\b": "a?min|aminmax|minimum",
    r"\bsubtracts the largest absolute": "abs_?|norm",
    r"\bsubtracts? one (maximum|largest score)|[Tt]he (maximum|largest score) of (the whole|all) ": "a?max|aminmax",
    r"\badds a small number\b": r"\d(\.\d+)?e-\d+|0\.0\d*|eps|tiny|finfo",
    r"\bmultiplies [−-]inf\b": r"inf|isinf|isfinite|float\(",
    r"\b(root of|comes from) the first size\b": "len|0",
    r"\brounded to a whole number|\brounds [^:]* to a whole number|\bcut to a whole number": (
        r"int|round_?|isqrt|floor_?|ceil|trunc|long"
    ),
    r"\b[Tt]he root is taken of\b": r"r?sqrt_?|-?0\.5",
}

DENIED = {r"^(Neither|No) [^.:]* has a mask\b": "mask"}  # what a sentence says is not there, and the token that is


class Claims:
    """The claims of the known mistakes of one exercise. solution: its source, without a mistake."""

    def __init__(self, solution: str) -> None:
        self.right = source.written_tokens(solution)
        self.definitions = source.written_definitions(solution)
        self._made: dict[WrongVersion, frozenset[str]] = {}

    def of(self, version: WrongVersion) -> frozenset[str]:
        """What a version's sentence says that the code writes."""
        if version not in self._made:
            wrong, names = source.written_tokens(version.source), version.changed
            only_wrong = _joined(wrong, names) - _joined(self.right, names)
            self._made[version] = frozenset(named(version.sentence) & only_wrong)
        return self._made[version]

    def contradicted(self, version: WrongVersion, words: SourceWords) -> bool:
        """Whether a sentence, of two one of them, claims what the source does not hold."""
        return any(
            self._missing(one, words) or _is_unheard(one, words) or self.is_right(one.changed, words)
            for one in version.parts or (version,)
        )

    def is_right(self, definitions: Collection[str], words: SourceWords) -> bool:
        """Whether the source has these definitions as the solution has them: no mistake is in them."""
        own = source.written_definitions(words.source)
        return bool(definitions) and all(own.get(name, "") == self.definitions.get(name) for name in definitions)

    def confirmed(self, version: WrongVersion, words: SourceWords) -> bool:
        """Whether a sentence claims something, and the source holds all of it."""
        return bool(self.of(version)) and not self._missing(version, words)

    def borne_out(self, version: WrongVersion, words: SourceWords) -> int:
        """How far the source bears a sentence out: 2 where it holds all code that is named, 1 where none is, else 0.

        Counted is what the mistake's file writes, be it right or wrong. It decides between sentences that fit alike: a
        right thing that is named may be what to do instead.
        """
        tokens = _joined(source.written_tokens(words.source), _used(version, words))
        code = named(version.sentence) & _joined(source.written_tokens(version.source), version.changed)
        return 1 if not code else 2 * (code <= tokens)

    def _missing(self, version: WrongVersion, words: SourceWords) -> frozenset[str]:
        claims = self.of(version)
        return claims - _joined(source.written_tokens(words.source), _used(version, words)) if claims else claims


def named(sentence: str) -> set[str]:
    """The names of code, constant calls and numbers in a sentence, in the form of `written.tokens`."""
    found = {name for match in CODE.finditer(sentence) for name in match.groups() if name}
    found |= {
        f"{name}({', '.join(part.strip() for part in inner.split(',')) if inner else ''})"
        for name, inner in CALL.findall(sentence.replace("−", "-"))
        if not re.search(r"[A-Za-z_]", inner)
    }
    dims = [word for phrase in DIMS.findall(sentence) for word in phrase.split(" and ")]
    numbers = [text for text in NUMBER.findall(sentence) if sum(map(str.isdigit, text)) >= LEAST_DIGITS]
    plain = (WORDS_FOR_NUMBERS.get(text, text).replace("−", "-").replace(",", "") for text in dims + numbers)
    return found | {source.written_number(text) for text in plain if text}


def _is_unheard(version: WrongVersion, words: SourceWords) -> bool:
    """Whether a sentence says in plain words what the source has nothing of, or that it lacks what it has."""
    said = [token for pattern, token in SPOKEN.items() if re.search(pattern, version.sentence)]
    denied = {token for pattern, token in DENIED.items() if re.search(pattern, version.sentence)}
    if not said and not denied:
        return False
    written = _joined(source.written_tokens(words.source), _used(version, words))
    return bool(denied & written) or any(not any(re.fullmatch(token, one) for one in written) for token in said)


def _used(version: WrongVersion, words: SourceWords) -> set[str]:
    """The definitions that the changed ones of the version have in the source, with what they use."""
    return {name for changed in version.changed for name in words.uses(changed)} | {source.OTHER}


def _joined(tokens: dict[str, list[str]], names: Iterable[str]) -> set[str]:
    return {token for name in names for token in tokens.get(name, ())}
