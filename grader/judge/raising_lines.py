"""Whether an exception comes from a line that does the same: many mistakes end in an error of the same words."""

import ast
import functools
import keyword
import re

from grader.sandbox.call_results import LearnerError

VARIABLE = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w|\s*\()")
OTHERS = {*keyword.kwlist, "self", "torch", "math"}
PRODUCTS = {
    "matrices": re.compile(r"@|\b(matmul|mm|bmm|mv|einsum|dot|inner|tensordot)\("),
    "entries": re.compile(r"(?<!\*)\*(?!\*)|\b(mul|multiply)\("),
}
LEAST = 2  # words that another line of the mistake must share


def may_be_one(mine: BaseException, theirs: BaseException, source: str) -> bool:
    """Whether the learner's line may be the one of the mistake that raised the same error, as its variables tell.

    It is not in another function of the exercise, not where one multiplies matrices and the other entries, and not
    where it shares no variable with that line, and several with another line of the same function, or all of them with
    one that multiplies too. Of a name each part counts: attn_weights is like weights, and query like queries.
    source: the mistake's, trusted.
    """
    if not (isinstance(mine, LearnerError) and isinstance(theirs, LearnerError) and theirs.kind == "exception"):
        return True
    (_, function, line), (number, other, code) = mine.frame, theirs.frame
    if function != other and {function, other} <= _functions(source):
        return False
    if products(line) and products(code) and not products(line) & products(code):
        return False
    own = _parts(line)
    if not own or own & _parts(code):
        return True
    others = _other_lines(source, number)
    return not any(len(own & parts) >= LEAST or (own <= parts and products(line) & kinds) for parts, kinds in others)


@functools.lru_cache(256)
def _functions(source: str) -> frozenset[str]:
    """The names of the functions at top level."""
    return frozenset(node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))


@functools.lru_cache(256)
def _other_lines(source: str, number: int) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """The variables and products of each statement of the innermost function around a line, but for the line's own."""
    around = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.lineno <= number <= (node.end_lineno or 0)
    ]
    if not around:
        return ()
    body = max(around, key=lambda node: node.lineno).body
    others = [node for node in body if not node.lineno <= number <= (node.end_lineno or 0)]
    texts = [ast.unparse(node) for node in others if not isinstance(node, ast.Expr)]
    return tuple((_parts(text), frozenset(products(text))) for text in texts)


def products(code: str) -> set[str]:
    """The kinds of products on a line: "matrices" (@, matmul, einsum), "entries" (*)."""
    return {kind for kind, pattern in PRODUCTS.items() if pattern.search(code.partition("#")[0])}


def _parts(code: str) -> frozenset[str]:
    """The parts of the variables that a line reads and binds, each in the singular."""
    words = "_".join(name for name in VARIABLE.findall(code) if name not in OTHERS).lower().split("_")
    singular = (f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s") for word in words)
    return frozenset(word for word in singular if len(word) > 2)
