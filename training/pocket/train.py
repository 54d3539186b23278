"""Trains the model on conversations that are made as it learns; nothing is read from a disk.

  python3 train.py --minutes 60 --out checkpoint.pt                              from nothing
  python3 train.py --minutes 60 --out checkpoint.pt --resume ../../packages/pocket/pocket-q8_0.gguf

Matrices learn with Muon, the rest with AdamW. The clock sets the schedule: a short warm-up, a constant rate, then a linear
fall to zero over the last `--decay` of the time. On a CPU bfloat16 is used, and `libpocket.so` where it was built.
"""
import argparse
import json
import multiprocessing
import os
import random
import time
from pathlib import Path
from queue import Empty

import numpy as np
import torch
import torch.nn.functional as F

import gguf
from conversations import ASSISTANT, END, call_text, held_out_set, sample, user
from model import Model, Shape
from tokenizer import Tokenizer

VOCABULARY = str(Path(__file__).with_name("tokenizer.json"))
LONGEST = 504
#: Short conversations first: they teach the form for little.
SHORT = 110


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--out", default="checkpoint.pt")
    parser.add_argument("--resume", default="", help="a checkpoint or a GGUF file of this model")
    parser.add_argument("--rate", type=float, default=1.0, help="of both learning rates")
    parser.add_argument("--decay", type=float, default=0.8, help="share of the time in which the rate falls to zero")
    parser.add_argument("--short", type=float, default=0.15, help="share of the time with short conversations only, when training from nothing")
    parser.add_argument("--batch", type=int, default=4096, help="tokens a step")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def encoded(tokenizer, parts):
    ids, learned = [], []
    for text, target in parts:
        piece = tokenizer.encode(text)
        ids += piece
        learned += [target] * len(piece)
    return ids, learned


def padded(batch):
    """-> tokens and what follows each of them; -1 where nothing is to be learned"""
    length = -(-max(len(ids) for ids, _ in batch) // 8) * 8
    tokens, following = np.zeros((len(batch), length), np.int64), np.full((len(batch), length), -1, np.int64)
    for row, (ids, learned) in enumerate(batch):
        tokens[row, : len(ids)] = ids
        for i in range(1, len(ids)):
            if learned[i]:
                following[row, i - 1] = ids[i]
    return tokens, following


def make_batches(seed, queue, size, only_short):
    """A process that makes batches of conversations of like length."""
    os.nice(5)
    source, tokenizer = random.Random(seed), Tokenizer(VOCABULARY)
    while True:
        longest = SHORT if only_short.value else LONGEST
        pool = []
        while len(pool) < 600:
            made = encoded(tokenizer, sample(source))
            if len(made[0]) <= longest:
                pool.append(made)
        pool.sort(key=lambda made: len(made[0]))
        batches, current = [], []
        for made in pool:
            if current and (len(current) + 1) * len(made[0]) > size:
                batches.append(current)
                current = []
            current.append(made)
        if len(current) * len(current[-1][0]) > size // 2:
            batches.append(current)
        source.shuffle(batches)
        for batch in batches:
            queue.put(padded(batch))


def next_batch(queue, maker):
    """@raise SystemExit when the process that makes batches has died, instead of waiting for ever"""
    while True:
        try:
            return queue.get(timeout=20)
        except Empty:
            if not maker.is_alive():
                raise SystemExit("No more conversations come: see the error above. The last checkpoint can be resumed.") from None


def orthogonal(update):
    """Newton-Schulz iteration on a stack of matrices that are wider than high."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = (update / (update.flatten(1).norm(dim=1)[:, None, None] + 1e-7)).bfloat16()
    for _ in range(5):
        square = x @ x.transpose(1, 2)
        x = a * x + (b * square + c * (square @ square)) @ x
    return x.float()


class Muon:
    """Momentum whose steps are made orthogonal, block by block (https://kellerjordan.github.io/posts/muon/)."""

    def __init__(self, parameters, rate=0.02, momentum=0.95, weight_decay=0.05):
        self.parameters, self.rate, self.keep, self.weight_decay = parameters, rate, momentum, weight_decay
        self.means = [torch.zeros_like(parameter) for parameter in parameters]

    def step(self, factor):
        updates, targets = {}, {}
        for parameter, mean in zip(self.parameters, self.means):
            mean.lerp_(parameter.grad, 1 - self.keep)
            update = parameter.grad.lerp(mean, self.keep)
            high, wide = parameter.shape
            count = 1 if high <= wide else 3 if high == 3 * wide else 2
            for part, own in zip(parameter.chunk(count), update.chunk(count)):
                turned = part.shape[0] > part.shape[1]
                own = own.t() if turned else own
                updates.setdefault(own.shape, []).append(own)
                targets.setdefault(own.shape, []).append((part, turned))
        rate = self.rate * factor
        for shape, stack in updates.items():
            for step, (part, turned) in zip(orthogonal(torch.stack(stack)), targets[shape]):
                scale = (part.shape[0] / part.shape[1]) ** 0.5 if turned else 1.0
                part.mul_(1 - rate * self.weight_decay).add_(step.t() if turned else step, alpha=-rate * scale)


class HeldOut:
    """First calls of the held-out set, teacher-forced: right where greedy decoding would be. It is looked at, never learned from."""

    def __init__(self, tokenizer, seed=4711):
        self.items = []
        for item in held_out_set(seed)["requests"]:
            target = call_text(item["expect"]["name"], item["expect"]["arguments"]) if item["expect"] else item["answer"]
            ids = encoded(tokenizer, [(user(item["text"]) + ASSISTANT, 0), (target + END, 1)])
            self.items.append((ids, "unseen phrase" if item["unseenPhrase"] else "seen phrase"))
        self.items.sort(key=lambda item: len(item[0][0]))

    def report(self, model, device):
        right = {}
        with torch.no_grad():
            for start in range(0, len(self.items), 50):
                part = self.items[start : start + 50]
                tokens, following = (torch.tensor(array, device=device) for array in padded([ids for ids, _ in part]))
                guessed = model(tokens).argmax(-1).view(following.shape)
                for (_, kind), whole in zip(part, ((guessed == following) | (following < 0)).all(1).tolist()):
                    right.setdefault(kind, []).append(whole)
        return ", ".join(f"{kind} {100 * sum(values) / len(values):.1f} %" for kind, values in sorted(right.items()))


def load(path, model):
    if path.endswith(".gguf"):
        state, _ = gguf.read(path)
    else:
        state = torch.load(path, map_location="cpu")["state"]
    model.load_state_dict(state)


def train(settings):
    torch.manual_seed(settings.seed)
    torch.set_num_threads(settings.threads)
    context = multiprocessing.get_context("fork")
    queue = context.Queue(24)
    only_short = context.Value("i", 1 if settings.short > 0 and not settings.resume else 0)
    maker = context.Process(target=make_batches, args=(settings.seed * 1000, queue, settings.batch, only_short), daemon=True)
    maker.start()  # before CUDA is initialised
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = Tokenizer(VOCABULARY)
    model = Model(Shape(len(tokenizer.tokens)))
    if settings.resume:
        load(settings.resume, model)
    model.to(device)
    matrices = [value for name, value in model.named_parameters() if value.ndim == 2 and name != "embedding"]
    others = [value for name, value in model.named_parameters() if value.ndim != 2 or name == "embedding"]
    adam, muon = torch.optim.AdamW(others, lr=0.004, betas=(0.9, 0.98), weight_decay=0.0), Muon(matrices)
    held_out = HeldOut(tokenizer)
    print(sum(value.numel() for value in model.parameters()), "parameters on", device, flush=True)

    def save():
        torch.save(dict(state=model.state_dict(), shape=vars(model.shape)), settings.out)

    start, total = time.time(), settings.minutes * 60
    steps = seen = 0
    losses, next_line, next_report = [], 30.0, 300.0
    while (passed := time.time() - start) < total:
        share = passed / total
        if share > settings.short:
            only_short.value = 0
        factor = settings.rate * min(1, (steps + 1) / 60) * min(1, max(0, (1 - share) / settings.decay))
        tokens, following = (torch.from_numpy(array).to(device) for array in next_batch(queue, maker))
        following = following.view(-1)
        chosen = (following >= 0).nonzero().view(-1)
        loss = F.cross_entropy(model(tokens, chosen).float(), following[chosen])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        with torch.no_grad():
            muon.step(factor)
        for group in adam.param_groups:
            group["lr"] = 0.004 * factor
        adam.step()
        for parameter in model.parameters():
            parameter.grad = None
        steps, seen = steps + 1, seen + tokens.numel()
        losses.append(loss.item())
        if passed > next_line:
            print(f"{passed:6.0f} s, step {steps}, {seen / 1e6:.2f} million tokens ({seen / passed:.0f}/s), loss {np.mean(losses):.4f}, rate {factor:.2f}", flush=True)
            losses, next_line = [], passed + 60
        if passed > next_report:
            print("   ", held_out.report(model, device), flush=True)
            save()
            next_report = passed + 300
    print("at the end:", held_out.report(model, device), flush=True)
    save()
    maker.terminate()


if __name__ == "__main__":
    train(options())
