"""What trained.pt predicts when one token of the second half was changed: the table of "Go further" in the lesson.

    make experiment EX=15 ARGS="changed your_file.py"

2,000 sequences of period 16 in which no token occurs twice. Token 6 of the second half is changed: to one that is not
in the sequence, and to the one of place 11. We count how often the model takes what came after the original, how often
what came after the other occurrence of the changed token, and how often it is right again later.
"""

import runpy
import sys
from pathlib import Path

import torch

COUNT, PERIOD, CHANGED, OTHER, VOCABULARY, SEED = 2000, 16, 6, 11, 32, 23


def main(file: str) -> None:
    model = runpy.run_path(file)["AttentionOnlyTransformer"](VOCABULARY, 64, 64, 2, 4)
    path = Path(__file__).resolve().with_name("trained.pt")
    model.load_state_dict(torch.load(path, weights_only=True), strict=False)  # your own buffers are not in it
    generator = torch.Generator().manual_seed(SEED)
    drawn = torch.stack([torch.randperm(VOCABULARY, generator=generator)[: PERIOD + 1] for _ in range(COUNT)])
    half, unseen = drawn[:, :PERIOD], drawn[:, PERIOD]
    place = PERIOD + CHANGED
    print("                        right after it       one      two")
    print("changed to              goes on    jumps     later    later")
    for name, token in (("a token that is new", unseen), ("one that is there", half[:, OTHER])):
        tokens = half.repeat(1, 2)
        tokens[:, place] = token
        with torch.no_grad():
            guesses = model(tokens).argmax(dim=-1)
        goes_on, jumps = guesses[:, place] == half[:, CHANGED + 1], guesses[:, place] == half[:, OTHER + 1]
        later = [guesses[:, place + n] == half[:, CHANGED + n + 1] for n in (1, 2)]
        shares = [f"{float(hit.float().mean()):.0%}" for hit in (goes_on, jumps, *later)]
        if token is unseen:
            shares[1] = "–"  # there is nothing to jump to
        print(f"{name:20}" + "".join(f"{share:>10}" for share in shares))


if __name__ == "__main__":
    main(sys.argv[1])
