"""The tokenizer: pieces as llama.cpp's `llama` (SentencePiece) tokenizer reads them, with a byte for everything else.

Pieces of several characters are runs of lower-case letters only. So a word has the same tokens bare, in quotes and inside a
path, and copying it is one token after the other. Marks of ChatML and of the call syntax are tokens of their own.

  python3 tokenizer.py CORPUS FILE [PIECES]     makes a vocabulary; another vocabulary makes every earlier model worthless
"""
import collections
import json
import re
import sys

UNKNOWN, NORMAL, CONTROL, USER_DEFINED, BYTE = 2, 1, 3, 4, 6
CONTROL_MARKS = ["<|im_start|>", "<|im_end|>"]
CALL_MARKS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", '{"name": "', '", "arguments": {']
SPACE = "\u2581"


class Tokenizer:
    def __init__(self, path):
        with open(path) as file:
            vocabulary = json.load(file)
        self.tokens, self.scores, self.types = vocabulary["tokens"], vocabulary["scores"], vocabulary["types"]
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.end = self.ids["<|im_end|>"]
        self._marks = set(CONTROL_MARKS + CALL_MARKS)
        self._split = re.compile("(" + "|".join(map(re.escape, sorted(self._marks, key=len, reverse=True))) + ")")
        self._runs = re.compile(r"[a-z]+|[^a-z]")
        self._rank = {token: self.scores[i] for i, token in enumerate(self.tokens) if self.types[i] == NORMAL}
        self._known = {}

    def encode(self, text):
        out = []
        for part in self._split.split(text):
            if part in self._marks:
                out.append(self.ids[part])
            else:
                for run in self._runs.findall(part):
                    out += self._run(run)
        return out

    def decode(self, ids):
        pieces = (self.tokens[i] if self.types[i] != BYTE else None for i in ids)
        raw = b"".join(bytes([int(self.tokens[i][3:5], 16)]) if piece is None else piece.replace(SPACE, " ").encode() for i, piece in zip(ids, pieces))
        return raw.decode("utf8", "replace")

    def _run(self, run):
        known = self._known.get(run)
        if known is None:
            known = self._merged(run) if "a" <= run[0] <= "z" else self._single(SPACE if run == " " else run)
            if len(self._known) < 300_000:
                self._known[run] = known
        return known

    def _single(self, character):
        if character in self._rank:
            return [self.ids[character]]
        return [self.ids["<0x%02X>" % byte] for byte in character.encode()]

    def _merged(self, word):
        """Joins the best-ranked neighbours first, as llama.cpp does."""
        parts = list(word)
        while len(parts) > 1:
            ranks = [self._rank.get(a + b) for a, b in zip(parts, parts[1:])]
            best = max((rank for rank in ranks if rank is not None), default=None)
            if best is None:
                break
            at = ranks.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [self.ids[part] for part in parts]


def learn_pieces(text, count):
    """Byte-pair merges over runs of lower-case letters."""
    for mark in CONTROL_MARKS + CALL_MARKS:
        text = text.replace(mark, " ")
    frequency = collections.Counter(re.findall(r"[a-z]+", text))
    words = {word: list(word) for word in frequency}
    pairs, where = collections.Counter(), collections.defaultdict(set)

    def count_pairs(word, sign):
        for pair in zip(words[word], words[word][1:]):
            pairs[pair] += sign * frequency[word]
            (where[pair].add if sign > 0 else where[pair].discard)(word)

    for word in words:
        count_pairs(word, 1)
    merges = []
    while len(merges) < count:
        (left, right), found = max(pairs.items(), key=lambda item: (item[1], item[0]))
        if found < 2:
            break
        merges.append(left + right)
        for word in list(where[left, right]):
            count_pairs(word, -1)
            parts, i = words[word], 0
            while i < len(parts) - 1:
                if (parts[i], parts[i + 1]) == (left, right):
                    parts[i : i + 2] = [left + right]
                i += 1
            count_pairs(word, 1)
    return list(dict.fromkeys(merges))


def make_vocabulary(corpus, pieces):
    tokens, scores, types = [], [], []

    def add(token, score, kind):
        tokens.append(token)
        scores.append(score)
        types.append(kind)

    add("<unk>", 0, UNKNOWN)
    for mark in ["<s>", "</s>"]:
        add(mark, 0, CONTROL)
    for byte in range(256):
        add("<0x%02X>" % byte, 0, BYTE)
    for mark in CONTROL_MARKS:
        add(mark, 0, CONTROL)
    for mark in CALL_MARKS:
        add(mark, 0, USER_DEFINED)
    single = [SPACE if code == 32 else chr(code) for code in range(32, 127)]
    for rank, piece in enumerate([*learn_pieces(corpus, pieces), *single], 1):
        add(piece, -float(rank), NORMAL)
    while len(tokens) % 32:
        add("<pad%d>" % len(tokens), 0, CONTROL)
    return dict(tokens=tokens, scores=scores, types=types)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        corpus = file.read()
    with open(sys.argv[2], "w") as file:
        json.dump(make_vocabulary(corpus, int(sys.argv[3]) if len(sys.argv) > 3 else 700), file, ensure_ascii=False)
    tokenizer, samples = Tokenizer(sys.argv[2]), corpus.split("\x00")[:-1]
    lengths = sorted(len(tokenizer.encode(text)) for text in samples)
    intact = all(tokenizer.decode(tokenizer.encode(text)) == text for text in samples)
    print(len(tokenizer.tokens), "tokens; samples have", sum(lengths) / len(lengths), "on average,", lengths[-1], "at most; decoded as encoded:", intact)
