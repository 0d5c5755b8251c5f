"""What is told after a trial of code that no known mistake explains."""

SIZES = (
    "Right for the sizes of the documented example, with other values too, but wrong for the sizes of this call: "
    "is a size written into the code, or does a size of 1 hide something?"
)
NUMBERS = (
    "Right for the documented example, with other values too, but wrong for the sizes and whole numbers of this call: "
    "is one of them written into the code, or are 0 and 1 treated in another way?"
)
DIMENSIONS = "Right for tensors of fewer dimensions, with other values too, but wrong for those of this call: "
FROM_THE_FRONT = DIMENSIONS + (
    "does the code count dimensions from the front (0, 1) where they should be counted from the end (-1, -2)?"
)
FROM_THE_END = DIMENSIONS + (
    "does the code count a dimension from the end (-1, -2) where it should be counted from the front (0, 1)?"
)
WHICH_DIMENSION = DIMENSIONS + "along which of them does each step work?"
SIGNS = (
    "Right for the documented example, and for other values of the same signs, but wrong where signs are others: "
    "does the code treat negative numbers in another way?"
)
OPTIONS = (
    "Right for the documented example, with other values too, but wrong with another option, as with True instead of "
    "False: what does the code do with this argument?"
)
LOADED = (
    "Right with the numbers that the class draws for its parameters, wrong once others are loaded into them: is "
    "something computed from the parameters beforehand, in __init__ say, and kept?"
)
FIXED = "Right for the sizes of the documented example, but not in shape for these: is a size written into the code?"
UNWRITTEN = "Asked anew, this call gives other numbers, and torch.empty is called: is each of its entries written?"
BY_HEART = "The documented numbers come back whatever the values are: compute them from the arguments."
STATE = "Asked before all others, this call gives another answer: does the code keep something of an earlier call?"
