"""The definitions of a source by name, and those of one name that may be the last that ran."""

import ast

from grader.records.syntax import FUNCTIONS, imported, statements, walked

BINDING = (ast.Assign, ast.AnnAssign, ast.For, ast.With, ast.Expr, ast.If, ast.While)
BUILTIN_ANNOTATIONS = {"torch.Tensor", "int", "float", "bool", "str"}  # they exist unless a file rebinds them


def definitions_of(tree: ast.Module, nodes: list[ast.AST]) -> dict[str, ast.AST]:
    """Functions, classes and assignments of the module by name; methods by their bare name.

    nodes: all nodes of the tree, as `walked` gives them.
    """
    definitions: dict[str, ast.AST] = _again(tree, nodes)
    for node in nodes:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            definitions.setdefault(node.name, node)
    for statement in statements(tree, closed=(*FUNCTIONS, ast.ClassDef)):  # those that run when the file is loaded
        if isinstance(statement, BINDING):
            for name in walked(statement):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    definitions.setdefault(name.id, statement)
    return definitions


def _again(tree: ast.Module, nodes: list[ast.AST]) -> dict[str, ast.AST]:
    """The names that the module defines more than once, each with the definitions that may be the last one to run."""
    statements_by_name: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            statements_by_name.setdefault(statement.name, []).append(statement)
    several = {name: defined for name, defined in statements_by_name.items() if len(defined) > 1}
    if not several:
        return {}
    rebound = _rebound(nodes)
    builtins = {name for name in BUILTIN_ANNOTATIONS if name.partition(".")[0] not in rebound}
    for defined in several.values():
        sure = [place for place, statement in enumerate(defined) if _surely_runs(statement, builtins)]
        del defined[: sure[-1] if sure else 0]
    return {name: ast.Module(body=defined, type_ignores=[]) for name, defined in several.items()}


def _rebound(nodes: list[ast.AST]) -> set[str]:
    """The names that the source binds anywhere to something else than the module of that name."""
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.name for node in nodes if isinstance(node, (*FUNCTIONS, ast.ClassDef))}
    return bound | {name for name, module in imported(nodes).items() if name != module}


def _surely_runs(statement: ast.stmt, builtins: set[str]) -> bool:
    """Whether this definition cannot fail, so that it replaces the earlier ones.

    builtins: the annotations that certainly exist.
    """
    if not isinstance(statement, FUNCTIONS) or statement.decorator_list:
        return False
    annotations = [
        statement.returns,
        *(argument.annotation for argument in walked(statement.args) if isinstance(argument, ast.arg)),
    ]
    defaults = [*statement.args.defaults, *statement.args.kw_defaults]
    has_constant_defaults = all(default is None or isinstance(default, ast.Constant) for default in defaults)
    return has_constant_defaults and all(
        annotation is None or isinstance(annotation, ast.Constant) or ast.unparse(annotation) in builtins
        for annotation in annotations
    )
