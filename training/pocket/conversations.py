"""Whole conversations to train on, and the held-out set.

  python3 conversations.py preview [seed]            25 conversations to read
  python3 conversations.py corpus COUNT SEED FILE    text for the tokenizer
  python3 conversations.py held-out SEED FILE        requests and flows for the evaluation, as JSON
"""
import json
import random as random_module
import re
import sys
from pathlib import Path

from flows import CONNECTORS, flow, part
from phrasing import TOOLS, Request, chosen_phrase, dress, path_text, quoted, request, with_typos
from results import DRY_RUN, outcome, shortened
from tokenizer import Tokenizer
from vocabulary import Slots

CANNOT = "I can't do that with my tools. I can work with files, run commands and tests, use git and search the web."
GREETING = "Hello! I can work with files, run commands and tests, use git and search the web. What should I do?"
WELCOME = "You're welcome!"
ANSWERS = {"refuse": CANNOT, "beyond": CANNOT, "hello": GREETING, "thanks": WELCOME}
#: Closes every request: what was done is said from the results, by the runtime, and nothing is recited.
DONE = "Done."
TOKENIZER = Tokenizer(str(Path(__file__).with_name("tokenizer.json")))
#: Results of earlier steps are cut to so many tokens, the last one to so many.
EARLIER_TOKENS, LAST_TOKENS = 32, 160
#: The shares of single requests, of flows, and of requests that no tool serves.
SINGLE, FLOW = 0.46, 0.26
#: Tools that change a file say so in many ways.
PRACTISED = [*TOOLS, "append_file", "append_file", "insert_lines", "insert_lines", "write_file", "edit_file"]
#: Flows need more practice than wording does: this share of them has three steps.
THREE_STEPS = 0.2


def call_text(tool, arguments):
    return "<tool_call>\n" + json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False) + "\n</tool_call>"


def user(text):
    return "<|im_start|>user\n" + text + "<|im_end|>\n"


def tool_response(text):
    return user("<tool_response>\n" + text + "\n</tool_response>")


ASSISTANT = "<|im_start|>assistant\n"
END = "<|im_end|>"


def words_only(random, slots, held_out=False):
    """A request that no tool serves, with the answer in words."""
    kind = random.choices(list(ANSWERS), [5, 12, 1, 1])[0]
    phrase = chosen_phrase(random, kind, held_out)
    plain = phrase.startswith("?")
    fill = {
        "N": lambda: slots.capital(slots.word()), "w": slots.word, "n": lambda: str(slots.number()), "q": lambda: quoted(random, slots.phrase(1, 4)) or "this",
        "p": lambda: path_text(random, slots.file()), "d": lambda: path_text(random, slots.folder()), "i": slots.identifier, "g": slots.glob,
    }
    text = re.sub(r"\{(\w)\}", lambda match: fill[match[1]](), phrase.removeprefix("?"))
    if kind == "beyond" and not plain and random.random() < 0.25:
        text, plain = beside_a_call(random, text, slots, held_out), False
    made = Request(with_typos(random, text, 0.02), None, plain, False, False, False)
    return dress(random, made, held_out), ANSWERS[kind]


def beside_a_call(random, text, slots, held_out):
    """Two things at once, of which only one can be done: nothing is begun of it."""
    tool = random.choice(TOOLS)
    connector = random.choice([" and ", " and ", " and then ", ", then ", ", and "]) if random.random() < 0.6 else random.choice(CONNECTORS)
    if random.random() < 0.5:
        return text + connector + part(random, tool, slots, held_out, True).text
    return part(random, tool, slots, held_out, False).text + connector + text


def sample(random):
    """One conversation: a list of (text, whether it is to be learned)."""
    slots, share = Slots(random), random.random()
    if share < SINGLE:
        tool = random.choice(PRACTISED)
        made = request(random, tool, slots)
        parts = [(user(dress(random, made)) + ASSISTANT, 0), (call_text(tool, made.arguments) + END, 1)]
        if random.random() < 0.3:
            result = outcome(random, tool, made.arguments, slots)[0] if random.random() > 0.08 else DRY_RUN
            parts += [("\n" + tool_response(shortened(result, fits_as_last)) + ASSISTANT, 0), (DONE + END, 1)]
        return parts
    if share < SINGLE + FLOW:
        made = flow(random, slots, 3 if random.random() < THREE_STEPS else 2)
        parts = [(user(dress_flow(random, made.text)) + ASSISTANT, 0)]
        short = random.random() < 0.7
        for i, (tool, arguments, result) in enumerate(made.steps):
            cut = short and i < len(made.steps) - 1 and not needed_later(made, i)
            shown = shortened(result, fits_as_earlier if cut else fits_as_last)
            parts += [(call_text(tool, arguments) + END, 1), ("\n" + tool_response(shown) + ASSISTANT, 0)]
        return [*parts, (DONE + END, 1)]
    text, answer = words_only(random, slots)
    return [(user(text) + ASSISTANT, 0), (answer + END, 1)]


def fits_as_earlier(text):
    return len(TOKENIZER.encode(text)) <= EARLIER_TOKENS


def fits_as_last(text):
    return len(TOKENIZER.encode(text)) <= LAST_TOKENS


def needed_later(made, i):
    """Whether the next call takes something from this result, which is then the last one and shown at length."""
    following = json.dumps(made.steps[i + 1][1], ensure_ascii=False)
    return made.steps[i + 1][0] in ("read_text_file", "write_file") and made.steps[i][0] in ("read_text_file", "bash", "search_files", "search_grep") or made.steps[i][2].startswith("Error: ") or following == "{}"


def dress_flow(random, text, held_out=False):
    return dress(random, Request(text, None, False, True, False, False), held_out)


def held_out_set(seed):
    """300 requests, a quarter each of seen and unseen phrases with seen and unseen values, and 50 two-step flows."""
    random = random_module.Random(seed)
    requests, flows = [], []
    cells = [(phrases, values) for phrases in (False, True) for values in (False, True)]
    for i in range(300):
        unseen_phrase, unseen_values = cells[i % 4]
        slots, tool = Slots(random, unseen_values), [*TOOLS, "none"][(i // 4) % (len(TOOLS) + 1)]
        where = dict(unseenPhrase=unseen_phrase, unseenValues=unseen_values)
        if tool == "none":
            text, answer = words_only(random, slots, unseen_phrase)
            requests.append(dict(tool=tool, text=text, expect=None, answer=answer, **where))
        else:
            made = request(random, tool, slots, held_out=unseen_phrase)
            requests.append(dict(tool=tool, text=dress(random, made, unseen_phrase), expect=dict(name=tool, arguments=made.arguments), **where))
    while len(flows) < 50:
        unseen = len(flows) >= 25
        made = flow(random, Slots(random, True), 2, held_out=unseen)
        if len(made.steps) == 2:
            steps = [dict(call=dict(name=tool, arguments=arguments), result=result) for tool, arguments, result in made.steps]
            flows.append(dict(text=dress_flow(random, made.text), unseenPhrase=unseen, steps=steps, answer=DONE))
    return dict(requests=requests, flows=flows)


if __name__ == "__main__":
    command, rest = sys.argv[1], sys.argv[2:]
    if command == "preview":
        source = random_module.Random(int(rest[0]) if rest else 1)
        for _ in range(25):
            print("".join(text for text, _ in sample(source)), "\n")
    elif command == "corpus":
        source = random_module.Random(int(rest[1]))
        with open(rest[2], "w") as file:
            file.writelines("".join(text for text, _ in sample(source)) + "\x00" for _ in range(int(rest[0])))
    elif command == "held-out":
        with open(rest[1], "w") as file:
            json.dump(held_out_set(int(rest[0])), file, indent=1, ensure_ascii=False)
    else:
        sys.exit(__doc__)
