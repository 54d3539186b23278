"""Requests of two and three steps: the calls, what the tools return, and the closing sentence."""
import re

from phrasing import TOOLS, expand, lines_of, marked_lines, quoted, request
from results import DRY_RUN, DRY_RUN_ANSWER, outcome

CONNECTORS = marked_lines("connectors")


def followups():
    table = {}
    for line in lines_of("followups"):
        kind, _, text = line.partition("\t")
        table.setdefault(kind, []).append(text)
    return table


FOLLOWUPS = followups()
#: Pairs and triples of independent calls that people often ask for together.
CHAINS = [
    ["create_directory", "write_file"], ["test", "git_commit"], ["git_status", "git_commit"], ["git_diff", "git_commit"],
    ["write_file", "git_commit"], ["edit_file", "git_commit"], ["edit_file", "test"], ["write_file", "test"], ["git_status", "git_diff"],
    ["append_file", "git_commit"], ["append_file", "read_text_file"], ["insert_lines", "git_diff"],
    ["move_file", "git_commit"], ["delete_file", "git_commit"], ["list_directory", "read_text_file"], ["edit_file", "git_diff"],
]
LONG_CHAINS = [
    ["edit_file", "test", "git_commit"], ["test", "git_diff", "git_commit"], ["create_directory", "write_file", "read_text_file"],
    ["write_file", "test", "git_commit"], ["git_status", "git_diff", "git_commit"], ["create_directory", "write_file", "git_commit"],
]


class Flow:
    """text of the request, steps (tool, arguments, result), the closing answer"""

    def __init__(self, text, steps, answer):
        self.text, self.steps, self.answer = text, steps, answer


def flow(random, slots, count, held_out=False):
    makers = TWO_STEPS if count == 2 else THREE_STEPS
    while True:
        made = random.choices([maker for maker, _ in makers], [weight for _, weight in makers])[0](random, slots, held_out)
        if made is not None:
            return made


def part(random, tool, slots, held_out, last, given=None):
    return request(random, tool, slots, held_out=held_out, inside=True, last=last, given=given)


def played(random, slots, texts, calls):
    """Runs the calls one after another with made-up results; a failure ends the flow."""
    steps, answer = [], ""
    if random.random() < 0.07:
        steps = [(tool, arguments, DRY_RUN) for tool, arguments in calls]
        return Flow(joined(random, texts), steps, DRY_RUN_ANSWER)
    for i, (tool, arguments) in enumerate(calls):
        result, answer, failed = outcome(random, tool, arguments, slots)
        steps.append((tool, arguments, result))
        if failed and i < len(calls) - 1:
            break
    return Flow(joined(random, texts), steps, answer)


def joined(random, texts):
    connector = random.choice(CONNECTORS)
    text = texts[0]
    if len(texts) == 2 and random.random() < 0.3:
        connector = random.choice([" and ", " and then ", ", then ", ". Then ", " then ", ", and ", ", after that "])
    if random.random() < 0.15 and len(texts) == 2:
        text, connector = "first " + text, random.choice([", then ", " and then ", ", and then ", " then "])
    for i, following in enumerate(texts[1:]):
        between = connector if i == 0 else random.choice(CONNECTORS)
        if len(texts) == 3 and i == 0 and random.random() < 0.4:
            between = ", "
        text += between + following
    return text


def any_calls(count):
    def make(random, slots, held_out):
        tools = [random.choice(TOOLS) for _ in range(count)]
        return chained(random, slots, held_out, tools, {})

    return make


def common_chain(chains):
    def make(random, slots, held_out):
        tools = random.choice(chains)
        given = {}
        if tools[:2] == ["create_directory", "write_file"]:
            folder = slots.folder().rstrip("/")
            file = {"path": f"{folder}/{slots.file_name()}"}
            given = {0: {"path": folder}, 1: file, 2: file}
        elif "write_file" in tools and "read_text_file" in tools:
            given = {i: {"path": slots.file()} for i in range(len(tools))}
        return chained(random, slots, held_out, tools, given)

    return make


def chained(random, slots, held_out, tools, given):
    parts = []
    for i, tool in enumerate(tools):
        settled = given.get(i, {}) if tool in ("create_directory", "write_file", "read_text_file") else {}
        parts.append(part(random, tool, slots, held_out, i == len(tools) - 1, settled))
    return played(random, slots, [made.text for made in parts], [(tool, made.arguments) for tool, made in zip(tools, parts)])


def file_in_new_folder(random, slots, held_out):
    """The file's place is said in relation to the folder: "make a folder x and put y in a.txt in it"."""
    folder, name, text = slots.folder().rstrip("/"), slots.file_name(), slots.content()
    shown = quoted(random, text) if random.random() < 0.6 else None
    if shown is None:
        text = slots.few_words()
        shown = text
    where = random.choice(["in it", "inside it", "there", "inside", "in that folder", "in this folder"])
    second = random.choice([
        f"write {shown} to {name} {where}", f"put {shown} in {name} {where}", f"create {name} {where} with {shown}",
        f"add a file {name} {where} that says {shown}", f"{where} create {name} containing {shown}", f"save {shown} as {name} {where}",
        f"put a file {name} {where} with the text {shown}", f"create a file called {name} {where} with the content {shown}",
    ])
    first = part(random, "create_directory", slots, held_out, False, {"path": folder})
    calls = [("create_directory", first.arguments), ("write_file", {"path": f"{folder}/{name}", "content": text})]
    return played(random, slots, [first.text, second], calls)


def folder_with_file(random, slots, held_out):
    """Both in one breath: "make a folder x with a file a.txt that says y"."""
    folder, name, text = slots.folder().rstrip("/"), slots.file_name(), slots.content()
    shown = quoted(random, text)
    if shown is None:
        return None
    make, called = random.choice(["make", "create", "add", "set up", "mkdir", "start"]), random.choice(["a folder ", "a directory ", "the folder ", "a new folder called ", "a folder named ", "directory "])
    says = random.choice(["that says", "containing", "with the text", "with", "saying", "with the content", "that contains", "holding"])
    between = random.choice([" with a file ", " with ", " and in it a file ", " with a new file ", " holding ", ", with a file called ", " and inside it "])
    text_of = f"{make} {called}{folder}{between}{name}{random.choice(['', ' inside', ' in it'])} {says} {shown}"
    return played(random, slots, [text_of], [("create_directory", {"path": folder}), ("write_file", {"path": f"{folder}/{name}", "content": text})])


def several_files(random, slots, held_out):
    """One verb with two or three objects: "delete a.txt and b.txt"."""
    tool = random.choice(["delete_file", "delete_file", "read_text_file", "get_file_info", "create_directory", "list_directory", "get_directory_tree"])
    name = slots.folder if tool in ("create_directory", "list_directory", "get_directory_tree") else slots.file
    paths = [name() for _ in range(2 if random.random() < 0.8 else 3)]
    made = request(random, tool, slots, held_out=held_out, inside=True, given={"path": paths[0]})
    marked = re.search(r"([\"'`]?)" + re.escape(paths[0]) + r"\1(?![\w/.-])", made.text)
    if marked is None or len(set(paths)) < len(paths) or len(made.text.split(paths[0])) != 2:
        return None
    mark = marked[1]
    said = [mark + path + mark for path in paths]
    between = random.choice([" and ", " and ", " and ", " & ", ", ", " and also "])
    text = ", ".join(said[:-1]) + between + said[-1]
    if len(said) == 2 and random.random() < 0.2:
        text = "both " + said[0] + " and " + said[1]
    text = made.text[: marked.start()] + text + made.text[marked.end() :]
    return played(random, slots, [text], [(tool, {**made.arguments, "path": path}) for path in paths])


def same_file(random, slots, held_out):
    path = slots.file()
    tool = random.choice(["read_text_file", "write_file", "edit_file", "get_file_info"])
    first = part(random, tool, slots, held_out, False, {"path": path})
    kind, second = random.choice([("delete", "delete_file"), ("read", "read_text_file"), ("info", "get_file_info")])
    if tool == second:
        kind, second = "delete", "delete_file"
    text = expand(random, random.choice(FOLLOWUPS[kind]))
    return played(random, slots, [first.text, text], [(tool, first.arguments), (second, {"path": path})])


def moved_file(random, slots, held_out):
    first = part(random, "move_file", slots, held_out, False)
    kind, tool = random.choice([("read", "read_text_file"), ("info", "get_file_info")])
    text = expand(random, random.choice(FOLLOWUPS[kind]))
    return played(random, slots, [first.text, text], [("move_file", first.arguments), (tool, {"path": first.arguments["destination"]})])


def copied_file(random, slots, held_out):
    source, target, body = slots.file(), slots.file(), slots.content()
    if random.random() < 0.25:
        body += "\n" + slots.content()
    text = expand(random, random.choice(FOLLOWUPS["copy"])).replace("{p2}", target).replace("{p}", source)
    read = ("read_text_file", {"path": source}, body)
    arguments = {"path": target, "content": body}
    result, answer, _ = outcome(random, "write_file", arguments, slots)
    return Flow(text, [read, ("write_file", arguments, result)], answer)


def found_file(random, slots, held_out):
    if random.random() < 0.4:
        return found_by_name(random, slots, held_out)
    folder = slots.folder()
    pattern = slots.glob() if random.random() < 0.5 else slots.file_name()
    found = folder.rstrip("/") + "/" + pattern.split("/")[-1].replace("*", slots.word())
    first = random.choice([
        f"find {pattern} in {folder}", f"find a file matching {pattern} in {folder}", f"search {folder} for {pattern}",
        f"look for files named {pattern} in {folder}", f"locate {pattern} under {folder}", f"look in {folder} for {pattern}",
    ])
    text = expand(random, random.choice(FOLLOWUPS["read_found"]))
    body = slots.content()
    others = "" if random.random() < 0.6 else "\n" + folder.rstrip("/") + "/" + slots.file_name()
    steps = [("search_files", {"path": folder, "pattern": pattern}, found + others), ("read_text_file", {"path": found}, body)]
    return Flow(first + random.choice(CONNECTORS) + text, steps, f"Here is {found}.")


def found_by_name(random, slots, held_out):
    """The search in any wording, the folder said or not."""
    first = part(random, "search_files", slots, held_out, False)
    folder, pattern = first.arguments["path"], first.arguments["pattern"]
    inside = "" if folder == "." else folder.rstrip("/") + "/"
    deeper = slots.folder_name() + "/" if random.random() < 0.5 else ""
    found = inside + deeper + pattern.split("/")[-1].replace("*", slots.word())
    body = slots.content()
    text = expand(random, random.choice(FOLLOWUPS["read_found"]))
    steps = [("search_files", first.arguments, found), ("read_text_file", {"path": found}, body)]
    return Flow(first.text.rstrip("?") + random.choice(CONNECTORS) + text, steps, f"Here is {found}.")


def found_line(random, slots, held_out):
    first = part(random, "search_grep", slots, held_out, False)
    if "include" in first.arguments:
        return None
    path, line, body = slots.file(), slots.line_count(), slots.content()
    text = expand(random, random.choice(FOLLOWUPS["read_found"]))
    steps = [("search_grep", first.arguments, f"{path}:{line}: {first.arguments['pattern']}"), ("read_text_file", {"path": path}, body)]
    return Flow(first.text.rstrip("?") + random.choice(CONNECTORS) + text, steps, f"Here is {path}.")


def saved_output(random, slots, held_out):
    first = part(random, "bash", slots, held_out, False)
    path, output = slots.file(), slots.phrase(1, 5)
    text = expand(random, random.choice(FOLLOWUPS["save_output"])).replace("{p}", path)
    arguments = {"path": path, "content": output}
    result, answer, _ = outcome(random, "write_file", arguments, slots)
    run = ("bash", first.arguments, output)
    return Flow(first.text + random.choice(CONNECTORS) + text, [run, ("write_file", arguments, result)], answer)


def into_a_folder(random, slots, held_out):
    """The destination is a folder that exists: the tool says so, and the call is corrected."""
    made = request(random, "move_file", slots, held_out=held_out)
    source, folder = made.arguments["source"], made.arguments["destination"]
    if "." in folder.split("/")[-1].strip(".") or made.plain:
        return None
    target = folder.rstrip("/") + "/" + source.split("/")[-1]
    result = f"Error: Already exists: {folder}\nIt is a directory; to move into it, give the new path in full: {target}"
    steps = [("move_file", made.arguments, result), ("move_file", {"source": source, "destination": target}, f"Moved {source} to {target}.")]
    return Flow(made.text, steps, f"Moved {source} to {target}.")


def missing_folder(random, slots, held_out):
    """The file's folder is not there: it is made, then the call is repeated."""
    made = request(random, "write_file", slots, held_out=held_out)
    path, arguments = made.arguments["path"], made.arguments
    if "/" not in path.strip("/") or path.startswith(("/", "~", "..")) or made.plain:
        return None
    folder = path.rsplit("/", 1)[0]
    missing = f"Error: Parent directory does not exist: {folder}\nMake it first with create_directory."
    result, answer, failed = outcome(random, "write_file", arguments, slots)
    steps = [("write_file", arguments, missing), ("create_directory", {"path": folder}, f"Created {folder}."), ("write_file", arguments, result)]
    return None if failed else Flow(made.text, steps, answer)


def misspelt_path(random, slots, held_out):
    """A file of another name is there, and the tool names it."""
    tool = random.choice(["read_text_file", "read_text_file", "get_file_info"])
    made = request(random, tool, slots, held_out=held_out)
    path = made.arguments["path"]
    if made.plain or len(path) < 5:
        return None
    at = random.randrange(1, len(path) - 1)
    meant = path[:at] + path[at + 1] + path[at] + path[at + 2 :] if random.random() < 0.6 else path[:at] + path[at + 1 :]
    if meant == path or "//" in meant:
        return None
    again = {**made.arguments, "path": meant}
    result, answer, failed = outcome(random, tool, again, slots)
    steps = [(tool, made.arguments, f"Error: File not found: {path}\nDid you mean {meant}?"), (tool, again, result)]
    return None if failed else Flow(made.text, steps, answer)


TWO_STEPS = [
    (any_calls(2), 34), (common_chain(CHAINS), 24), (same_file, 13), (several_files, 9), (file_in_new_folder, 6), (folder_with_file, 4), (moved_file, 5), (copied_file, 7),
    (found_file, 7), (found_line, 6), (saved_output, 6), (into_a_folder, 3), (misspelt_path, 3),
]
THREE_STEPS = [(any_calls(3), 45), (common_chain(LONG_CHAINS), 45), (missing_folder, 10)]
