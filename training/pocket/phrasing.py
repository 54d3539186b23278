"""Requests in plain English with the call that answers them, made from the phrases under `phrases/`.

A phrase is literal text with choices `[a|b]` and slots `{slot}` or `{slot:mode}`:
  mode q  the value always stands in quotes
  mode b  in quotes, or a few bare words where the sentence says where they end
  mode e  in quotes, or bare at the very end of the request
A leading `?` means that no polite beginning fits, `@text=command` stands for one certain command, `%staged ` sets the flag,
`{first}` at the end says that it is about the first line.
"""
import re
from pathlib import Path

from vocabulary import CODE_WORDS, LANGUAGES

PHRASES = Path(__file__).parent / "phrases"
TOOLS = (
    "read_text_file list_directory search_files search_grep write_file edit_file create_directory delete_file move_file get_file_info "
    "get_directory_tree bash test git_status git_diff git_commit web_search echo append_file insert_lines"
).split()
#: The order of arguments in a call.
ORDER = {
    "read_text_file": ["path", "head", "tail", "start_line", "end_line"], "search_files": ["path", "pattern"],
    "search_grep": ["pattern", "path", "include"], "write_file": ["path", "content"], "edit_file": ["path", "old_text", "new_text"],
    "move_file": ["source", "destination"], "append_file": ["path", "content"], "insert_lines": ["path", "before_line", "after_line", "content"],
}
ARGUMENT_OF = {
    "p": "path", "d": "path", "pd": "path", "head": "head", "tail": "tail", "start": "start_line", "end": "end_line", "glob": "pattern", "name": "pattern",
    "lang": "pattern", "needle": "pattern", "content": "content", "old": "old_text", "new": "new_text", "p2": "destination",
    "d2": "destination", "before": "before_line", "after": "after_line", "cmd": "command", "cmsg": "message", "query": "query",
}
QUOTES = {'"': 5, "'": 3, "`": 2}


def lines_of(name):
    path = PHRASES / (name + ".txt")
    return [line.strip() for line in path.read_text().splitlines() if line.strip()]


def marked_lines(name):
    """Lines whose end, with its space, is marked by `|`."""
    return [line[: line.rindex("|")] for line in (PHRASES / (name + ".txt")).read_text().splitlines() if "|" in line]


TRAINED = {name: lines_of(name) for name in [*TOOLS, "refuse", "beyond", "hello", "thanks"]}
HELD_OUT = {name: lines_of("held-out/" + name) for name in TRAINED}
PREFIXES, HELD_OUT_PREFIXES = marked_lines("prefixes"), marked_lines("held-out/prefixes")
SUFFIXES = marked_lines("suffixes")


def expand(random, text):
    """Chooses among the alternatives, innermost first."""
    while True:
        match = re.search(r"\[([^\[\]]*)\]", text)
        if match is None:
            return text
        text = text[: match.start()] + random.choice(match[1].split("|")) + text[match.end() :]


def expansions(text):
    """Everything that a phrase can say."""
    match = re.search(r"\[([^\[\]]*)\]", text)
    if match is None:
        yield text
        return
    for choice in match[1].split("|"):
        yield from expansions(text[: match.start()] + choice + text[match.end() :])


def wording(text):
    """What is compared between phrases: the words and where values stand, nothing else."""
    text = re.sub(r"\{(\w+)(:\w)?\}", "{}", text.removeprefix("?").removeprefix("%staged ").removeprefix("@").removesuffix("{first}").lower())
    return re.sub(r"\s+", " ", re.sub(r"[^a-z{} ]", "", text)).strip()


#: Wordings that training must never show, whichever phrase they come from.
HELD_OUT_WORDINGS = {tool: {wording(text) for phrase in phrases for text in expansions(phrase)} for tool, phrases in HELD_OUT.items()}


def chosen_phrase(random, tool, held_out):
    """A phrase with its alternatives chosen; in training never in a wording of the held-out set."""
    while True:
        phrase = expand(random, random.choice((HELD_OUT if held_out else TRAINED)[tool]))
        if held_out or wording(phrase) not in HELD_OUT_WORDINGS[tool]:
            return phrase


def with_typos(random, text, share):
    def spoil(match):
        word = match[0]
        if len(word) < 4 or random.random() > share:
            return word
        i, kind = random.randrange(1, len(word) - 1), random.random()
        if kind < 0.35:
            return word[:i] + word[i + 1] + word[i] + word[i + 2 :]
        if kind < 0.6:
            return word[:i] + word[i + 1 :]
        return word[:i] + (word[i] if kind < 0.8 else random.choice("abcdefghijklmnopqrstuvwxyz")) + word[i + (0 if kind < 0.8 else 1) :]

    return re.sub(r"[a-z]+", spoil, text)


def without_articles(random, text):
    """As people write who are in a hurry, or whose own language has none."""
    return re.sub(r"\b(the|a|an) (?=[a-z])", lambda match: "" if random.random() < 0.6 else match[0], text)


def quoted(random, value):
    """The value in quotes that it does not hold itself; nothing where it holds all of them."""
    marks = [mark for mark in QUOTES if mark not in value and not (mark == "'" and '"' in value and random.random() < 0.5)]
    if not marks:
        return None
    mark = random.choices(marks, [QUOTES[mark] for mark in marks])[0]
    return mark + value + mark


class Unfit(Exception):
    """These values do not fit this phrase; another is tried."""


class Request:
    """A request with its call.

    text      as the user writes it, before it is dressed
    arguments of the call
    plain     no polite beginning fits
    open_end  ends in bare words that must not be followed by anything
    path_end  ends in a bare path
    """

    def __init__(self, text, arguments, plain, open_end, path_end, slot_first):
        self.text, self.arguments, self.plain = text, arguments, plain
        self.open_end, self.path_end, self.slot_first = open_end, path_end, slot_first


def request(random, tool, slots, held_out=False, inside=False, last=True, given=None):
    """One request for a tool.

    inside  part of a longer request: no questions, no bare text at its end unless it is the last part
    given   values of arguments that are settled
    """
    for _ in range(400):
        phrase = chosen_phrase(random, tool, held_out)
        if inside and phrase.startswith("?"):
            continue
        try:
            return fill(random, tool, phrase, slots, inside, last, given or {})
        except Unfit:
            continue
    raise ValueError(f"no phrase of {tool} fits {given}")


def fill(random, tool, phrase, slots, inside, last, given):
    plain = phrase.startswith("?")
    phrase = phrase.removeprefix("?")
    arguments = {}
    if phrase.startswith("%staged "):
        arguments["staged"], phrase = True, phrase[len("%staged ") :]
    if phrase.endswith("{first}"):
        arguments["before_line"], phrase = 1, phrase[: -len("{first}")]
    if phrase.startswith("@"):
        phrase, arguments["command"] = phrase[1:].rsplit("=", 1)
    if "path" in given and ("{dot}" in phrase or "{jn}" in phrase or "{lang}" in phrase):
        raise Unfit
    if "pattern" in given and ("{lang}" in phrase):
        raise Unfit
    parts = []  # (text, kind): literal, path or text
    pieces = re.split(r"(\{\w+(?::\w)?\})", phrase)
    joined = None
    first_line, last_line = slots.line_range()
    for i, piece in enumerate(pieces):
        if not re.fullmatch(r"\{\w+(?::\w)?\}", piece):
            if piece:
                parts.append((piece, "literal"))
            continue
        name, _, mode = piece[1:-1].partition(":")
        at_end = not any(rest.strip() for rest in pieces[i + 1 :])
        if name == "dot":
            arguments["path"] = "."
        elif name == "W":
            parts.append((slots.word(), "text"))
        elif name in ("head", "tail", "before", "after"):
            arguments[ARGUMENT_OF[name]] = slots.line_count()
            parts.append((str(arguments[ARGUMENT_OF[name]]), "text"))
        elif name in ("start", "end"):
            arguments[ARGUMENT_OF[name]] = first_line if name == "start" else last_line
            parts.append((str(first_line if name == "start" else last_line), "text"))
        elif name in ("jd", "jn"):
            joined = joined or (slots.folder(), slots.folder_name() if tool == "create_directory" else slots.file_name())
            arguments["path"] = joined[0].rstrip("/") + "/" + joined[1]
            parts.append((path_text(random, joined[0] if name == "jd" else joined[1]), "path"))
        elif tool == "search_grep" and name in ("lang", "glob"):
            value = random.choice(list(LANGUAGES)) if name == "lang" else slots.glob()
            arguments["include"] = LANGUAGES[value] if name == "lang" else value
            parts.append((value if name == "lang" else path_text(random, value), "text" if name == "lang" else "path"))
        else:
            argument = argument_of(tool, name)
            if name == "lang":
                language = random.choice(list(LANGUAGES))
                arguments[argument] = LANGUAGES[language]
                parts.append((language, "text"))
            else:
                value, text, kind = value_of(random, name, mode, argument, slots, at_end and last, given | like_earlier(random, name, arguments, slots))
                arguments[argument] = value
                parts.append((text, kind))
    if arguments.get("old_text") is not None and arguments.get("old_text") == arguments.get("new_text"):
        raise Unfit
    if inside and not last and parts and parts[-1][1] == "bare":
        raise Unfit
    return assemble(random, tool, parts, arguments, plain)


def argument_of(tool, name):
    if tool == "move_file" and name == "p":
        return "source"
    return "message" if tool == "echo" else ARGUMENT_OF[name]


def like_earlier(random, name, arguments, slots):
    """Half of all new texts and new paths resemble those that they replace, whichever of the two is said first."""
    other = {"new": "old_text", "old": "new_text", "p2": "source"}.get(name)
    if other not in arguments or random.random() < 0.45:
        return {}
    change = slots.moved if name == "p2" else slots.changed
    return {ARGUMENT_OF[name]: change(arguments[other])}


def value_of(random, name, mode, argument, slots, open_end, given):
    makers = {
        "p": slots.file, "d": slots.folder, "p2": slots.file, "d2": slots.folder, "glob": slots.glob, "name": slots.file_name,
        "pd": lambda: slots.folder() if random.random() < 0.65 else slots.file(), "needle": slots.needle, "content": slots.content,
        "old": slots.fragment, "new": slots.fragment, "cmd": slots.command, "cmsg": slots.commit_message, "query": slots.query,
    }
    value = given[argument] if argument in given else makers[name]()
    if mode == "b" and argument in given and argument in ("old_text", "new_text") and random.random() < 0.4 and re.fullmatch(r"[\w.=:-]+|\w+ ?[=:] ?\w+", value):
        return value, value, "text"
    if mode == "b" and argument not in given and random.random() < 0.38:
        if name in ("old", "new", "needle"):
            value = bare_fragment(random, slots)
        else:
            value = slots.query() if name == "query" else slots.few_words()
        return value, value, "text"
    if mode == "e" and open_end and random.random() < 0.5:
        return value, value, "bare"
    if mode == "x":
        return value, value, "bare"
    if mode in ("q", "b", "e"):
        text = quoted(random, value)
        if text is None:
            raise Unfit
        return value, text, "text"
    return value, path_text(random, value), "path"


def bare_fragment(random, slots):
    """A piece of code or text that stands in a sentence without quotes."""
    share = random.random()
    if share < 0.4:
        return slots.word()
    if share < 0.7:
        return slots.identifier()
    if share < 0.8:
        return random.choice(CODE_WORDS)
    name, number = slots.word(), slots.number()
    return random.choice([f"{name} = {number}", f"{name}={number}", f"{name}: {number}", f"{name.upper()}={number}", f"{number}", f"{number % 10}.{number % 7}.{number % 13}"])


def path_text(random, value):
    text = value if random.random() < 0.68 else quoted(random, value)
    if text is None:
        raise Unfit
    return text


def assemble(random, tool, parts, arguments, plain):
    typos = 0.035 if random.random() < 0.35 else 0
    hasty = random.random() < 0.05
    texts = []
    for text, kind in parts:
        if kind == "literal":
            text = with_typos(random, without_articles(random, text) if hasty else text, typos)
        texts.append((text, kind))
    whole = "".join(text for text, _ in texts)
    if not any("  " in text for text, kind in texts if kind != "literal"):
        whole = re.sub(r"  +", " ", whole)
    ordered = {name: arguments[name] for name in ORDER[tool] if name in arguments} if tool in ORDER else arguments
    spoken = [(text, kind) for text, kind in texts if text.strip()]
    last_text, last_kind = spoken[-1]
    quoted_end = last_text[-1] in "\"'`"
    return Request(
        whole.strip(), ordered, plain, last_kind == "bare" or (last_kind == "text" and not quoted_end), last_kind == "path" and not quoted_end,
        spoken[0][1] != "literal",
    )


def dress(random, made, held_out=False):
    """Polite beginnings and endings, capitals and full stops."""
    text = made.text
    begins_with_value = made.slot_first
    if not made.plain and random.random() < 0.45:
        text = random.choice(HELD_OUT_PREFIXES if held_out and random.random() < 0.4 else PREFIXES) + text
        begins_with_value = False
    if not made.open_end and not made.path_end and random.random() < 0.12 and text[-1] not in "?!.":
        text += random.choice(SUFFIXES)
    elif made.path_end and random.random() < 0.06:
        text += random.choice(SUFFIXES)
    elif made.path_end and random.random() < 0.14:
        text += random.choice("..!")
    if random.random() < 0.55 and not begins_with_value and not text.startswith(("$", "ls", "mv", "rm", "cat ", "git ", "npm ")):
        text = text[0].upper() + text[1:]
    if not text.endswith(("?", ".", "!")) and not made.open_end and not made.path_end and random.random() < 0.25:
        text += random.choice("..!")
    return text
