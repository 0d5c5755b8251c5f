"""What edits try instead: other functions, operators and comparisons, and what may be missing around a value."""

import ast

# Functions that are mistaken for each other: each is tried in the place of the others of its tuple.
SIBLINGS = [
    ("sum", "mean", "amax", "max", "prod"), ("max", "amax", "min", "argmax"), ("rand", "randn", "zeros", "ones",
    "empty"),
    ("tril", "triu"), ("view", "reshape"), ("ones_like", "zeros_like", "full_like", "rand_like"), ("sqrt",
    "square", "exp"),
    ("softmax", "log_softmax", "sigmoid", "relu", "tanh"), ("argmax", "argmin"), ("cumsum", "cumprod", "sum"),
    ("repeat", "expand", "tile", "repeat_interleave"), ("cat", "stack", "hstack", "vstack", "concat"),
    ("log", "log2", "log1p"), ("exp", "exp2", "expm1"), ("squeeze", "unsqueeze"), ("matmul", "mul"), ("dot", "outer"),
    ("ones", "zeros"), ("ones", "eye"), ("min", "max"), ("add", "sub", "mul", "div"), ("sin", "cos"),
    ("keys", "values"),
    ("arange", "linspace"), ("eval", "train"), ("Parameter", "Tensor"), ("cosine_similarity", "dot"),
    ("cummax", "cumsum"), ("floor", "round", "ceil"), ("norm", "sum"), ("zip", "product"), ("Linear", "Embedding"),
]  # fmt: skip
REDUCING = (
    "sum",
    "mean",
    "max",
    "min",
    "amax",
    "amin",
    "prod",
    "logsumexp",
    "norm",
    "std",
    "var",
    "argmax",
    "any",
    "all",
)
ALONG = (*REDUCING, "softmax", "log_softmax", "cumsum", "cat", "stack", "unsqueeze", "squeeze", "chunk", "split")
FACTORIES = (
    "zeros", "ones", "empty", "full", "tensor", "arange", "eye", "rand", "randn", "tril_indices", "triu_indices",
    "as_tensor",
)  # fmt: skip
TURNS = [(-2, -1), (1, 2), (0, 1), (2, 3), (-3, -2), (0, 2), (1, 3)]
SWAPPED = (ast.MatMult, ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Mult: (ast.Div, ast.MatMult, ast.Add, ast.Pow), ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub),
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Div), ast.FloorDiv: (ast.Div, ast.Mod, ast.Mult), ast.MatMult: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.Mod: (ast.FloorDiv,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE), ast.LtE: (ast.Lt, ast.GtE, ast.Gt), ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.LtE, ast.Lt), ast.Eq: (ast.NotEq, ast.LtE, ast.GtE), ast.NotEq: (ast.Eq, ast.Gt),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
# What may be missing around an expression E, the likelier first.
WRAPS = (
    (
        "(E).softmax(-1)", "(E) / (E).sum(-1, keepdim=True)", "(E) - (E).amax(-1, keepdim=True)", "(E).exp()",
        "(E).sum(-1)",
        "(E).sum()", "(E) ** 0.5", "-(E)", "~(E)", "(E) + 1", "(E) - 1", "(E).unsqueeze(0)", "(E).unsqueeze(-1)",
        "(E)[0]",
        "(E).bool()", "sorted(set(E))", "sorted(E)", "(E).values",
    ),
    (
        "(E).softmax(0)", "(E) - (E).max()", "(E).sum(0)", "(E).mean(-1)", "(E).squeeze(0)", "(E).clone()",
        "(E).contiguous()",
        "(E).log()", "(E)[-1]", "1 / (E)", "1 - (E)", "(E) * 2", "(E) / 2", "set(E)", "list(E)", "int(E)", "tuple(E)",
        "next(E)", "len(E)",
        "(E).indices", "(E).T",
    ),
)  # fmt: skip
LOOPS = (
    "enumerate(E)",
    "(E).items()",
    "(E).values()",
    "reversed(E)",
    "range(len(E))",
    "range(E)",
    "(E)[1:]",
    "(E)[:-1]",
)
MISSING = "something is missing there"
