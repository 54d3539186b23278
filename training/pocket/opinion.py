"""A second opinion: which tools the words of a request ask for, by single words and pairs of them alone.

It is a linear model, made of the same requests as the language model and in another way, so the two are seldom wrong
together: where they disagree, the runtime asks. What it knows of a request is little, and it is quick.

  python3 opinion.py COUNT FILE
"""
import collections
import json
import random as random_module
import re
import sys

import torch

from conversations import PRACTISED, dress_flow, dress, words_only
from flows import flow
from phrasing import TOOLS, request
from vocabulary import Slots

CLASSES = ["none", *TOOLS]
#: Words and pairs that were met less often say nothing.
LEAST_OFTEN = 6
#: Weights are kept in tenths; smaller ones are left out.
LEAST_WEIGHT = 0.25


def marks_of(text):
    """The words of a request, with marks in place of values. `second-opinion.ts` does the same."""
    text = re.sub(r'"[^"]*"|`[^`]*`|(?<![A-Za-z0-9])\'[^\']*\'(?![A-Za-z0-9])', " <q> ", text)
    marks = ["^"]
    for word in text.split():
        asks = word.endswith("?")
        bare = re.sub(r"[.,;:!?)]+$", "", word.lstrip("("))
        if bare:
            marks.append(mark_of(bare))
        if asks:
            marks.append("?")
    return [*marks, "$"]


def mark_of(word):
    if word == "<q>":
        return word
    if re.search(r"[/*_\\]|\w\.\w|^[.~]", word):
        return "<p>"
    if re.fullmatch(r"[0-9]+", word):
        return "<n>"
    return word.lower() if re.fullmatch(r"[A-Za-z]?[a-z]*(?:['-][a-z]+)*", word) else "<v>"


def grams_of(text):
    marks = marks_of(text)
    return set(marks[1:-1]) | {one + " " + two for one, two in zip(marks, marks[1:])}


def example(random):
    """-> the request and the tools that it asks for"""
    slots, share = Slots(random), random.random()
    if share < 0.5:
        made = request(random, tool := random.choice(PRACTISED), slots)
        return dress(random, made), [tool]
    if share < 0.7:
        made = flow(random, slots, 2 if random.random() < 0.8 else 3)
        return dress_flow(random, made.text), [tool for tool, _, _ in made.steps]
    return words_only(random, slots)[0], ["none"]


def learned(count, seed=5):
    random = random_module.Random(seed)
    texts = [example(random) for _ in range(count)]
    grams = [grams_of(text) for text, _ in texts]
    often = collections.Counter(gram for found in grams for gram in found)
    known = {gram: i for i, gram in enumerate(sorted(gram for gram, times in often.items() if times >= LEAST_OFTEN))}
    rows = [[known[gram] for gram in found if gram in known] for found in grams]
    targets = torch.zeros(count, len(CLASSES))
    for i, (_, tools) in enumerate(texts):
        for tool in tools:
            targets[i, CLASSES.index(tool)] = 1
    weights = torch.nn.EmbeddingBag(len(known), len(CLASSES), mode="sum")
    torch.nn.init.zeros_(weights.weight)
    bias = torch.nn.Parameter(torch.full((len(CLASSES),), -2.0))
    optimizer = torch.optim.Adam([weights.weight, bias], lr=0.02)
    for epoch in range(5):
        order = torch.randperm(count).tolist()
        for group in optimizer.param_groups:
            group["lr"] = 0.02 * (1 - epoch / 5)
        for start in range(0, count, 512):
            part = order[start : start + 512]
            flat = torch.tensor([gram for i in part for gram in rows[i]])
            offsets = torch.tensor([0, *[len(rows[i]) for i in part]]).cumsum(0)[:-1]
            score = weights(flat, offsets) + bias
            loss = torch.nn.functional.binary_cross_entropy_with_logits(score, targets[part]) + 2e-8 * weights.weight.square().sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", round(loss.item(), 4), flush=True)
    return known, weights.weight.detach(), bias.detach()


def main(count, path):
    torch.set_num_threads(1)
    known, weights, bias = learned(count)
    kept = {}
    for gram, i in known.items():
        row = {str(j): round(value * 10) for j, value in enumerate(weights[i].tolist()) if abs(value) >= LEAST_WEIGHT}
        if row or " " not in gram:
            kept[gram] = [number for pair in row.items() for number in (int(pair[0]), pair[1])]
    with open(path, "w") as file:
        file.write(json.dumps({"classes": CLASSES, "bias": [round(value * 10) for value in bias.tolist()], "grams": kept}, separators=(",", ":")).replace('],"', '],\n"') + "\n")
    print(len(kept), "words and pairs")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
