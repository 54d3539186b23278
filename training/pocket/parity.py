"""What llama.cpp has to agree with: token ids of many texts, and the probabilities after one prompt.

  python3 parity.py CHECKPOINT FILE
"""
import json
import random
import sys
from pathlib import Path

import torch

from conversations import ASSISTANT, sample, user
from model import Model, Shape
from tokenizer import Tokenizer
from vocabulary import Slots

ODD_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz  AB01"\\{}<>_é日😀\t\n'


def texts(source):
    made = ["".join(text for text, _ in sample(source)) for _ in range(500)]
    for i in range(500):
        slots = Slots(source, i % 2 == 1)
        made.append([
            slots.file, slots.code, lambda: " " * source.randint(0, 3) + slots.phrase() + "\n\n  x",
            lambda: "".join(source.choice(ODD_CHARACTERS) for _ in range(30)),
            lambda: "".join(source.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(40)),
        ][i % 5]())
    return made


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tokenizer = Tokenizer(str(Path(__file__).with_name("tokenizer.json")))
    checkpoint = torch.load(sys.argv[1], map_location="cpu")
    model = Model(Shape(**checkpoint["shape"]))
    model.load_state_dict(checkpoint["state"])
    prompt = user("Read the first 5 lines of src/skooxsung.txt please") + ASSISTANT + '<tool_call>\n{"name": "'
    with torch.no_grad():
        logits = model(torch.tensor([tokenizer.encode(prompt)]), dtype=torch.float32)[-1]
    made = texts(random.Random(99))
    with open(sys.argv[2], "w") as file:
        json.dump(dict(texts=made, ids=[tokenizer.encode(text) for text in made], prompt=prompt, probabilities=logits.softmax(-1).tolist()), file)
