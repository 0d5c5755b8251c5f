# exercise: 01
# verdict: error
# tries: no Python at all

def dot_product(a, b:
    return [31m
