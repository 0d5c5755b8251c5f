"""Sentences that need no known mistake: on what a source holds or leaves out, and on an error that it raised."""

import re

import torch

from grader.judge.compare import SUGGESTION, Mismatch
from grader.judge.failure import Failure, is_blank
from grader.records.source import LEAVING, SourceWords, gradient_cuts, outline
from grader.sandbox.call_results import LearnerError
from grader.worker.surroundings import WAITS

MAKES_A_TENSOR = re.compile(r"\btorch\.(tensor|as_tensor|Tensor)\(")
LEFT = (
    "{} turns a tensor into Python numbers, and torch.{}(…) makes a new tensor without gradients, in float32 and on "
    "the CPU. Keep tensors, and join them with torch.stack."
)
CUT = "The gradient is wrong, and none flows back through {0}. Is {0} right here?"
NO_PARAMETER = re.compile(r"has (?:no parameter called ([\w., ]+)|other parameters than asked for: ([\w., ]+) missing)")
PLAIN_TENSOR = (
    "self.{0} holds a plain tensor, which is not a parameter: nothing trains it, and it stays behind when the layer "
    "moves to another device. Make it an nn.Parameter."
)
COMMENT = re.compile(r"#.*")
IN_PLACE = (
    "An operation in place (x += …, masked_fill_, x[…] = …) writes into an input or a parameter: "
    "make a new tensor instead."
)
NUMPY = "numpy does a part of the computation: it cuts the gradients and has no bfloat16, so use only torch."
DTYPES = "One operation mixes tensors of two dtypes: make new tensors with the dtype of the inputs."
GPU = (
    "The code asks for a GPU, but there may be none where it is graded. Compute where the inputs are: x.device is the "
    "device of x."
)
SENTENCES = {  # what torch says at its beginning, and what that means
    r"Torch not compiled with \w+ enabled|PyTorch is not linked with support for \w+ devices": GPU,
    r"Found no NVIDIA driver|No CUDA GPUs are available|CUDA driver|0 active drivers": GPU,
    r"a (view of a )?leaf Variable that requires grad is being used in an in-place operation": IN_PLACE,
    r"Trying to backward through the graph a second time": (
        "A tensor that was computed in an earlier call is kept and used again. Its graph was gone after the first "
        "backward pass, and its values are from before the last step of training: compute it in every call."
    ),
    r"Inference tensors cannot be saved for backward": (
        "A tensor that was made under torch.inference_mode is kept and used again in training, which can't work with "
        "such tensors: make it in every call, or use torch.no_grad in place of inference_mode."
    ),
    r"Only Tensors created explicitly by the user .* support the deepcopy protocol": (
        "copy.deepcopy can't copy a tensor that was computed, and the object keeps one from an earlier call. "
        "Don't keep it, or do without the copy."
    ),
    r"cannot assign (parameters?|modules?|buffer) before Module\.__init__\(\) call": (
        "A layer or parameter is assigned before super().__init__() has run: call that first, with its parentheses."
    ),
    r"view size is not compatible with input tensor's size and stride": (
        "view needs the numbers to be in order in memory, which a transpose or a slice changes: "
        "use reshape, or contiguous() before it."
    ),
    r"Got unsupported ScalarType BFloat16|Can't call numpy\(\) on Tensor that requires grad": NUMPY,
    r"module 'numpy' has no attribute": NUMPY,
    r"expected scalar type \w+ but found \w+|expected m1 and m2 to have the same dtype": DTYPES,
    r"must have the same dtype, but got": DTYPES,
    r"a?(max|min)\(\): Expected reduction dim (-?\d+ to have non-zero size|to be specified for input)": (
        "This is the maximum or minimum of nothing: the tensor has no entries along that dimension here, perhaps "
        "because a sequence has no tokens. Decide what should happen then, before you look for the largest."
    ),
}
SIZES_OF_VALUES = (
    "Two tensors are combined entry by entry, but their sizes do not fit. Sizes are compared from the last dimension "
    "backwards: in each pair they must be equal, or one of them 1. unsqueeze adds a dimension of size 1."
)
SIZES_OF_BATCHES = (
    "A matrix product works on the last two dimensions, but the ones in front of them do not fit: in each pair they "
    "must be equal, or one of them 1. Did a transpose move the wrong dimensions?"
)
SIZES_OF_FACTORS = (
    "The sizes of a matrix product do not fit: the first factor needs as many columns as the second one has rows. "
    "Compare the shapes of the two, and their order."
)
NO_PRODUCT = re.compile(
    r"mat1 and mat2 shapes cannot be multiplied|size mismatch, got input|inconsistent tensor size, expected tensor"
    r"|Expected size for first two dimensions of batch2 tensor"
)
PRODUCT = re.compile(r"@|\b(matmul|mm|bmm|mv|einsum|dot|inner|tensordot)\(")
BETWEEN_VALUES = re.compile(r"[\w)\]] *(?:[-+/]|(?<!\*)\*(?!\*)) *[\w(]|masked_fill|where|maximum|minimum")
NOT_EQUAL = re.compile(r"The size of tensor a \(\d+\) must match the size of tensor b \(\d+\) at non-singleton dim")
MODULES = {
    "math": "import math",
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "from torch.nn import functional as F",
}
HOMES_BY_NAME = {"math": "math", "torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}
OTHERWISE = "The file imports {} as {}: use that name here too."
IMPORTED = "{} is a module that the file does not import: write {} at its top."
UNKNOWN = re.compile(r"name '(\w+)' is not defined")
OF_TENSORS = (
    "torch.tensor makes a tensor of plain numbers, but here it gets tensors of several numbers each. To put "
    "tensors on top of each other, use torch.stack."
)
MATH = "{} takes one number, but here it gets a whole tensor: use the function of the same name in torch."
ONE_NUMBER = re.compile(r"only one element tensors can be converted|a Tensor with \d+ elements cannot be converted")
OF_SCALARS = (
    "torch.{} joins tensors along a dimension that they have, but a single number has none. torch.stack makes a new "
    "dimension for them."
)
NO_DIM_TO_JOIN = re.compile(r"zero-dimensional tensor \(at position \d+\) cannot be concatenated")
DIVISION = "/ gives a float, even when nothing is left over: a size is a whole number, so divide with //."
FLOAT_FOR_INT = re.compile(
    r".*(?:got float|element of type float|ints, not float|'float' object cannot be interpreted as an integer)"
    r"|slice indices must be int"
)
DIVIDED = re.compile(r"(?<!/)/(?!/)")
KEYBOARD = (
    "{} waits for the keyboard, and nobody can type while your code is graded, so the call ended there. Remove it. To "
    "look at values, print them and run: make try EX={}"
)
LAYER = "{} is a layer, not a matrix: call it with its input, as you call a function, instead of multiplying by it."
NO_OPERAND = re.compile(
    r"unsupported operand type\(s\) for [@*]=?: '(?:Tensor|Parameter)' and '(?P<right>\w+)'"
    r"|unsupported operand type\(s\) for [@*]=?: '(?P<left>\w+)' and '(?:Tensor|Parameter)'"
    r"|\w+\(\): argument '\w+' \(position \d+\) must be Tensor, not (?P<given>\w+)"
)
NO_ATTRIBUTE = re.compile(r"'(?P<owner>\w+)' object has no attribute '(?P<name>\w+)'")
OWN_FUNCTION = "{0} is a function of this file and no method: call it without self, as {0}(…)."
NOT_KEPT = "self.{0} is read but never set: {0} is an argument of __init__, so store it there, in self.{0}."
UNPACKED = re.compile(r"(not enough|too many) values to unpack")
SHAPE = re.compile(r"=.*\.(shape|size\(\))\s*(#.*)?$")
SIZES = (
    "The line unpacks a shape into a different number of sizes than the tensor has. "
    "That number changes with and without a batch, so count from the end, as x.shape[-1] does."
)
NO_DIM = re.compile(r"Dimension out of range \(expected to be in range of \[-\d+, (\d+)\], but got (-?\d+)\)")
ONE_DIM = "There is no dim {} here: the tensor has one dimension at most, which is dim 0, or -1 from the end."
OTHER_DIM = "There is no dim {} here: the tensor has {} dimensions, 0 to {}, which are -{} to -1 from the end."


def of_source(failure: Failure, words: SourceWords) -> str | None:
    """A sentence on a fault of the function or class that failed, or of what it uses; None where none is seen."""
    function = failure.last_called
    if not function or (failure.raised and getattr(failure.error, "kind", "") != "gradient"):
        return None
    used_names = words.uses(function)
    cuts = [what for definition, _, what in gradient_cuts(words.source) if definition in used_names]
    return _plain_tensor(failure, words.source) or _leaves_torch(failure, words.source, cuts) or _cuts(failure, cuts)


def of_error(error: BaseException, source: str, number: str) -> str | None:
    """What an exception means, where its own words do not say it plainly; None for any other one.

    source: the learner's; number: of the exercise.
    """
    if not isinstance(error, LearnerError) or error.kind != "exception":
        return None
    text, line = str(error.facts.get("message", "")), error.frame[2]
    if keyboard := WAITS.fullmatch(text):
        return KEYBOARD.format(keyboard[1], number)
    if UNPACKED.match(text) and SHAPE.search(line):
        return SIZES
    if no_dim := NO_DIM.match(text):
        last, dim = int(no_dim[1]), no_dim[2]
        return OTHER_DIM.format(dim, last + 1, last, last + 1) if last else ONE_DIM.format(dim)
    lines = [str(frame[2]) for frame in error.facts.get("frames", ()) if len(frame) > 2]
    if FLOAT_FOR_INT.match(text) and any(map(DIVIDED.search, lines)):
        return DIVISION
    if ONE_NUMBER.match(text):
        taken = re.search(r"\bmath\.\w+", line)
        return MATH.format(taken[0]) if taken else OF_TENSORS if "tensor(" in line else None
    if NO_DIM_TO_JOIN.match(text) and (joining := re.search(r"\b(cat|concat|concatenate)\(", line)):
        return OF_SCALARS.format(joining[1])
    return (
        _unknown(text, source)
        or _layer(text, line)
        or _attribute(text, source)
        or next((words for pattern, words in SENTENCES.items() if re.match(pattern, text)), None)
    )


def of_sizes(error: BaseException) -> str | None:
    """What torch says of sizes that do not fit, in plain words. It names no cause, so what names one comes first."""
    if not isinstance(error, LearnerError) or error.kind != "exception":
        return None
    text, code = str(error.facts.get("message", "")), error.frame[2].partition("#")[0]
    if NO_PRODUCT.match(text):
        return SIZES_OF_FACTORS
    if not NOT_EQUAL.match(text):
        return None
    has_product, meets_values = bool(PRODUCT.search(code)), bool(BETWEEN_VALUES.search(code))
    return None if has_product == meets_values else SIZES_OF_BATCHES if has_product else SIZES_OF_VALUES


def _plain_tensor(failure: Failure, source: str) -> str | None:
    """That a parameter which the object lacks is a tensor that torch made, kept as it is."""
    match = NO_PARAMETER.search(failure.error.summary) if isinstance(failure.error, Mismatch) else None
    names = (match[1] or match[2]).strip().split(", ") if match is not None else []
    plain = [name for name in names if re.search(rf"\bself\.{re.escape(name)}\s*=\s*torch\.\w+\(", source)]
    return PLAIN_TENSOR.format(plain[0]) if plain else None


def _leaves_torch(failure: Failure, source: str, cuts: list[str]) -> str | None:
    """That values leave torch and come back as a new tensor, where gradients, a dtype or a device are wrong."""
    error = failure.error
    no_gradient = isinstance(error, LearnerError) and error.kind == "gradient"
    is_of_kind = isinstance(error, Mismatch) and ("has dtype" in error.summary or "device" in error.summary)
    expected = getattr(error, "expected", None)
    is_of_tokens = isinstance(expected, torch.Tensor) and not expected.is_floating_point()
    leaving = [cut for cut in cuts if cut.strip(".()") in LEAVING]
    making = MAKES_A_TENSOR.search(COMMENT.sub("", source))
    if not (no_gradient or is_of_kind) or is_of_tokens or not leaving or making is None:
        return None
    return LEFT.format(leaving[0], making[1])


def _cuts(failure: Failure, cuts: list[str]) -> str | None:
    """That a gradient is wrong, and what cuts one; None where several such things do."""
    if failure.way[1] != "gradients" or is_blank(failure):  # a gradient that is cut off is missing, and no NaN
        return None
    return CUT.format(cuts[0]) if len({*cuts}) == 1 else None


def _unknown(text: str, source: str) -> str | None:
    """The sentence on a name that is a module, or an attribute of self."""
    unknown = UNKNOWN.match(text)
    if unknown and unknown[1] in MODULES and unknown[1] not in (imported := outline(source)["imports"]):
        other = next((name for name, path in imported.items() if path == HOMES_BY_NAME[unknown[1]]), "")
        return OTHERWISE.format(unknown[1], other) if other else IMPORTED.format(unknown[1], MODULES[unknown[1]])
    if unknown and re.search(rf"\bself\.{unknown[1]}\b", source):
        return f"{unknown[1]} is kept as self.{unknown[1]}: write it with self wherever you read it."
    return None


def _layer(text: str, line: str) -> str | None:
    """The sentence on a module that is used as a matrix."""
    match = NO_OPERAND.match(text)
    name = next(filter(None, match.groups()), "") if match else ""
    if not isinstance(kind := vars(torch.nn).get(name), type) or not issubclass(kind, torch.nn.Module):
        return None
    attributes = re.findall(r"@\s*(self\.\w+)", line) or re.findall(r"\bself\.\w+", line)
    return LAYER.format(f"{attributes[0]} (an nn.{name})" if attributes else f"An nn.{name}")


def _attribute(text: str, source: str) -> str | None:
    """The sentence on an attribute of self that is read and never set: an argument, or others are set and not read."""
    match = NO_ATTRIBUTE.match(text)
    if match is None or not re.search(rf"^class {match['owner']}\b", source, re.M):
        return None
    if re.search(rf"^def {match['name']}\(", source, re.M):
        return OWN_FUNCTION.format(match["name"])
    kept = list(dict.fromkeys(re.findall(r"^\s+self\.(\w+)\s*(?::[^=\n]+)?=(?!=)", source, re.M)))
    if match["name"] not in kept and re.search(rf"def __init__\([^)]*\b{match['name']}\b", source):
        return NOT_KEPT.format(match["name"])
    unread = [name for name in kept if len(re.findall(rf"\bself\.{name}\b", source)) == 1]
    if SUGGESTION.search(text) or not unread or match["name"] in kept:
        return None
    names = " and ".join(f"self.{name}" for name in unread[:3])
    return f"self.{match['name']} is read, but what is set is {names}: use the same name in both places."
