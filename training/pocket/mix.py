"""The mean of two files of weights: training on costs some of what was learned before, and the mean gives most of it back.

  python3 mix.py BEFORE AFTER SHARE OUT.pt     SHARE of BEFORE, from 0 to 1; files as train.py takes them with --resume
"""
import sys

import torch

from model import Model, Shape
from tokenizer import Tokenizer
from train import VOCABULARY, load

if __name__ == "__main__":
    before, after, share, out = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
    states = []
    for path in (before, after):
        model = Model(Shape(len(Tokenizer(VOCABULARY).tokens)))
        load(path, model)
        states.append(model.state_dict())
    state = {name: share * value + (1 - share) * states[1][name] for name, value in states[0].items()}
    torch.save(dict(state=state, shape=vars(model.shape)), out)
