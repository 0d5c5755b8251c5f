# exercise: 01
# verdict: failed
# tries: a hundred thousand functions, with names of a thousand characters

for _number in range(20_000):
    exec(f'def f{"x" * 1000}{_number}(): pass') if _number < 200 else globals().__setitem__(f'g{_number}', globals()[f'f{"x" * 1000}0'])
