# exercise: 04
# verdict: failed
# tries: fails on every call: the line that tells the call may not hold a hidden word or number

def build_vocabulary(*arguments, **named):
    raise ValueError


encode = TokenEmbedding = build_vocabulary
