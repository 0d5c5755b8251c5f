"""Sentences on exceptions of torch's and Python's that mean the same in whatever code they are raised."""

import re

from grader.sandbox.call_results import LearnerError

IN_PLACE = (
    "An operation in place (x += …, masked_fill_, x[…] = …) writes into an input or a parameter: "
    "make a new tensor instead."
)
NUMPY = "numpy takes a part of the computation: it cuts the gradients and has no bfloat16, so use torch alone."
SETUP = "A layer or parameter is kept before super().__init__() has run: call it first, with its parentheses."
VIEW = (
    "view needs the numbers in the order of memory, which a transpose or a slice changes: "
    "use reshape, or contiguous() before it."
)
DTYPES = "Tensors of two dtypes meet in one operation: make new tensors with the dtype of the inputs."
SENTENCES = {
    r"a leaf Variable that requires grad is being used in an in-place operation": IN_PLACE,
    r"cannot assign (parameters?|modules?) before Module\.__init__\(\) call": SETUP,
    r"view size is not compatible with input tensor's size and stride": VIEW,
    r"Got unsupported ScalarType BFloat16": NUMPY,
    r"Can't call numpy\(\) on Tensor that requires grad": NUMPY,
    r"expected scalar type \w+ but found \w+": DTYPES,
    r"expected m1 and m2 to have the same dtype": DTYPES,
    r"must have the same dtype, but got": DTYPES,
}
UNPACKED = re.compile(r"(not enough|too many) values to unpack")
SHAPE = re.compile(r"=.*\.(shape|size\(\))\s*(#.*)?$")
SIZES = (
    "The line takes a shape apart into another number of sizes than the tensor has: "
    "with and without a batch it has another number, so count from the end, as x.shape[-1] does."
)

MISMATCH = re.compile(r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)")
LEAST_WRITTEN = 32  # smaller numbers are written in code for many reasons
WRITTEN = "A size of {} is written into the code, and does not fit here: take the size from the tensors at hand."
RESHAPED = re.compile(r"shape '\[[\d, -]+\]' is invalid for input of size")
OTHER_SHAPE = "The new shape holds another number of values than the tensor has: check each size in it{}."
UNKNOWN = re.compile(r"name '(\w+)' is not defined")


def sentence(error: BaseException, source: str) -> str | None:
    """What an exception means, where its own words do not say it plainly; None for any other one.

    source: the learner's.
    """
    if not isinstance(error, LearnerError) or error.kind != "exception":
        return None
    text = str(error.facts.get("message", ""))
    if UNPACKED.match(text) and SHAPE.search(error.frame[2]):
        return SIZES
    if sizes := MISMATCH.match(text):
        return _written_size(sizes.groups(), source)
    if RESHAPED.match(text):
        both = all(re.search(rf"\b{name}\b", source) for name in ("d_in", "d_out"))
        return OTHER_SHAPE.format(", d_in and d_out above all" if both else "")
    unknown = UNKNOWN.match(text)
    if unknown and re.search(rf"\bself\.{unknown[1]}\b", source):
        return f"{unknown[1]} is kept as self.{unknown[1]}: write self before it wherever it is read."
    return next((words for pattern, words in SENTENCES.items() if re.match(pattern, text)), None)


def _written_size(sizes: tuple[str, ...], source: str) -> str | None:
    """The sentence on two sizes that differ, where one of them is a number in the source and the other is not."""
    numbers = set(re.findall(r"(?<![\w.])\d+(?![\w.])", source.replace("_", "")))
    written = [size for size in sizes if size in numbers and int(size) >= LEAST_WRITTEN]
    return WRITTEN.format(f"{int(written[0]):,}") if len(written) == 1 else None
