"""What our tools return, in their own words, and the short sentence that closes a request.

The forms are those that the runtime's pocket backend shows the model: paths relative to the workspace, failures that begin with
`Error: `, long results cut by whole lines.
"""
DRY_RUN = "Not run: this is a dry run."
DRY_RUN_ANSWER = "Nothing was run: this is a dry run."


def outcome(random, tool, arguments, slots):
    """-> (text of the result, closing sentence, whether it failed)"""
    if random.random() < 0.1 and tool not in ("echo", "git_status", "git_diff"):
        text = failure(random, tool, arguments, slots)
        if tool == "bash" and random.random() < 0.4:
            text = "'bash' needs approval, and nobody is there to give it."
        elif tool == "bash":
            output = slots.phrase(2, 5) + "\n" if random.random() < 0.7 else ""
            return "Error: " + output + text, f"The command failed with exit code {text.split(',')[0].split()[-1]}.", True
        return "Error: " + text, "That failed: " + text.split("\n")[0].rstrip(".") + ".", True
    text, answer = RESULTS[tool](random, arguments, slots)
    if random.random() < LONG and tool in LENGTHENED and not answer.startswith(("No ", "There are no", "Found ", "Nothing")) and "empty" not in answer:
        text, answer = LENGTHENED[tool](random, arguments, slots)
    return text, answer, tool == "test" and " 0 failed" not in text


#: The share of results that are longer than the model is shown.
LONG = 0.4


def prose(slots, random):
    """A line as documents have it."""
    share = random.random()
    if share < 0.1:
        return "#" * random.randint(1, 3) + " " + slots.phrase(1, 4)
    if share < 0.2:
        return "- " + slots.phrase(2, 9)
    if share < 0.3:
        return "| " + " | ".join(slots.few_words() for _ in range(3)) + " |"
    if share < 0.4:
        return f"[{slots.few_words()}]({slots.file()}), `{slots.command()}`"
    if share < 0.55:
        return "  " * random.randint(0, 3) + slots.code()
    return slots.phrase(6, 16) + random.choice([".", ",", ""])


def long_text(random, arguments, slots):
    path = arguments["path"]
    return "\n".join(prose(slots, random) for _ in range(random.randint(3, 16))), f"Here is {path}."


def long_listing(random, arguments, slots):
    path = "the folder" if arguments["path"] == "." else arguments["path"]
    entries = [slots.folder_name() + "/" if random.random() < 0.3 else slots.file_name() for _ in range(random.randint(6, 40))]
    return "\n".join(sorted(entries)), f"Here is what {path} contains."


def long_hits(random, arguments, slots):
    pattern, path = arguments["pattern"], arguments.get("path", "")
    folder = path.rstrip("/") + "/" if path and path != "." and "." not in path.split("/")[-1].strip(".") else ""
    lines = [f"{folder or ''}{slots.file_name()}:{slots.line_count()}: {prose(slots, random)} {pattern} {slots.few_words()}" for _ in range(random.randint(2, 9))]
    return "\n".join(lines), f"These lines contain {pattern}."


def long_names(random, arguments, slots):
    pattern = arguments["pattern"]
    names = [f"{slots.folder_name()}/" * random.randint(0, 3) + pattern.split("/")[-1].replace("*", slots.identifier()) for _ in range(random.randint(4, 20))]
    return "\n".join(names), f"These files match {pattern}."


def long_output(random, arguments, slots):
    return "\n".join(prose(slots, random) for _ in range(random.randint(3, 16))), "Here is what the command printed."


def long_tree(random, arguments, slots):
    path = arguments["path"].rstrip("/")
    lines = [f"{path}/"]
    for _ in range(random.randint(3, 8)):
        lines += [f"  {slots.folder_name()}/"] + [f"    {slots.file_name()}" for _ in range(random.randint(0, 4))]
    return "\n".join(lines) + f"\n{random.randint(3, 8)} directories, {random.randint(3, 40)} files", f"Here is the tree of {'the folder' if path == '.' else path}."


def long_status(random, arguments, slots):
    branch = random.choice(["main", "main", "master", "dev", slots.identifier()])
    changed = "".join(f"\n  {random.choice(['modified', 'modified', 'deleted', 'new file'])}: {slots.file()}" for _ in range(random.randint(3, 12)))
    return f"On branch {branch}.\nChanged but not staged:{changed}", f"On branch {branch}, there are changes."


def long_diff(random, arguments, slots):
    lines = []
    for _ in range(random.randint(1, 4)):
        lines += [f"+++ b/{slots.file()}"] + [random.choice("+-") + "  " * random.randint(0, 2) + prose(slots, random) for _ in range(random.randint(2, 6))]
    return "\n".join(lines), "Here are the changes."


LENGTHENED = {
    "read_text_file": long_text, "list_directory": long_listing, "search_grep": long_hits, "search_files": long_names, "bash": long_output,
    "get_directory_tree": long_tree, "git_status": long_status, "git_diff": long_diff,
}


def failure(random, tool, arguments, slots):
    path = arguments.get("path") or arguments.get("source") or slots.file()
    if tool == "bash":
        return f"[exit code {random.choice([1, 1, 2, 3, 126, 127])}]"
    if tool == "git_commit":
        return "There is nothing to commit."
    if tool == "web_search":
        return "The web cannot be searched: there is no key for the Brave Search API."
    if tool == "test":
        return random.choice(["No test framework was recognised.", "The tests took too long."])
    missing = "Directory" if tool in ("list_directory", "search_files", "get_directory_tree") else "File"
    kinds = [
        f"{missing} not found: {path}", f"Access denied: {path} is not within allowed directories",
        f'Access denied: {path} is protected (it matches "{path.split("/")[-1]}")', f"Not a {missing.lower()}: {path}",
    ]
    if tool in ("read_text_file", "edit_file", "get_file_info", "delete_file"):
        kinds += [kinds[0]] * 3
    if tool == "read_text_file" and "start_line" in arguments:
        kinds.append(f"There is no line {arguments['start_line']} in {path}: it has {random.randint(1, arguments['start_line'])} lines")
    if tool == "edit_file":
        nothing = f"Nothing was changed in {path}: "
        kinds += [nothing + "old_text is not there, and nothing like it."] * 3
        kinds += [nothing + f"old_text is there {random.randint(2, 9)} times, at lines {random.randint(1, 9)}, {random.randint(10, 20)}, {random.randint(21, 99)}."]
        kinds += [nothing + "old_text and new_text are the same."]
    if tool == "insert_lines":
        kinds += [kinds[0], f"There is no line {arguments.get('after_line', arguments.get('before_line', 1))} in {path}: it has {random.randint(1, 9)} lines"]
    if tool in ("write_file", "create_directory", "append_file"):
        kinds = kinds[1:]
    if tool == "move_file":
        kinds += [f"Already exists: {arguments['destination']}", kinds[0]]
    if tool in ("delete_file", "move_file"):
        kinds += [f"'{tool}' needs approval, and nobody is there to give it."] * 2
    return random.choice(kinds)


def read_text_file(random, arguments, slots):
    path = arguments["path"]
    lines = [slots.content() for _ in range(random.choice([0, 1, 1, 2, 2, 3, 5]))]
    if lines and random.random() < 0.25:
        lines[0] = "# " + slots.phrase(1, 3)
    if len(lines) == 5:
        lines.append(f"[+{random.randint(2, 400)} lines]")
    return "\n".join(lines) or "(empty)", f"Here is {path}." if lines else f"{path} is empty."


def list_directory(random, arguments, slots):
    entries = [slots.folder_name() + "/" if random.random() < 0.3 else slots.file_name() for _ in range(random.choice([0, 1, 2, 3, 4, 6]))]
    if len(entries) == 6 and random.random() < 0.5:
        entries.append(f"[+{random.randint(2, 90)} lines]")
    path = "the folder" if arguments["path"] == "." else arguments["path"]
    return "\n".join(entries) or "(empty)", f"Here is what {path} contains." if entries else f"{path} is empty.".replace("the folder", "The folder")


def search_files(random, arguments, slots):
    path, pattern = arguments["path"], arguments["pattern"]
    folder = "" if path == "." else path.rstrip("/") + "/"
    names = [folder + (pattern.split("/")[-1].replace("*", slots.word()) if "*" in pattern else pattern) for _ in range(random.choice([0, 1, 1, 2, 3]))]
    if not names:
        return f'Nothing below {path} matches "{pattern}".', f"No files match {pattern}."
    return "\n".join(names), f"Found {names[0]}." if len(names) == 1 else f"These files match {pattern}."


def search_grep(random, arguments, slots):
    pattern, path = arguments["pattern"], arguments.get("path", "")
    is_file = "." in path.split("/")[-1].strip(".")
    folder = path.rstrip("/") + "/" if path and path != "." and not is_file else ""
    hits = [(path if is_file else folder + slots.file_name(), slots.line_count()) for _ in range(random.choice([0, 1, 1, 2]))]
    if not hits:
        return f'No lines match "{pattern}".', f"No matches for {pattern}."
    text = "\n".join(f"{file}:{line}: {random.choice(['', '', slots.word() + ' ', '// '])}{pattern}{random.choice(['', ' ' + slots.word(), ';'])}" for file, line in hits)
    return text, f"Found it in {hits[0][0]}, line {hits[0][1]}." if len(hits) == 1 else f"These lines contain {pattern}."


def write_file(random, arguments, slots):
    content, path = arguments["content"], arguments["path"]
    lines = content.count("\n") + 1
    verb = "Created" if random.random() < 0.8 else "Wrote"
    return f"{verb} {path} ({lines} line{'' if lines == 1 else 's'}, {len(content.encode())} bytes).", f"Wrote {path}."


def append_file(random, arguments, slots):
    path = arguments["path"]
    verb = "Created" if random.random() < 0.1 else "Appended to"
    return f"{verb} {path} (now {slots.number()} bytes).", f"Added to {path}."


def insert_lines(random, arguments, slots):
    path, lines = arguments["path"], arguments["content"].count("\n") + 1
    return f"Inserted {lines} line{'' if lines == 1 else 's'} into {path}.", f"Added to {path}."


def edit_file(random, arguments, slots):
    return f"Changed {arguments['path']}.", f"Edited {arguments['path']}."


def create_directory(random, arguments, slots):
    path = arguments["path"]
    text = f"{path} exists already." if random.random() < 0.15 else f"Created {path}."
    return text, text


def delete_file(random, arguments, slots):
    return f"Deleted {arguments['path']}.", f"Deleted {arguments['path']}."


def move_file(random, arguments, slots):
    text = f"Moved {arguments['source']} to {arguments['destination']}."
    return text, text


def get_file_info(random, arguments, slots):
    size, path = random.choice([random.randint(0, 999), random.randint(0, 99999), random.randint(0, 99)]), arguments["path"]
    day = f"20{random.randint(20, 29)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
    kind = "directory" if random.random() < 0.1 else "file"
    mode = random.choice(["644", "600", "755", "664"])
    return f"path: {path}\ntype: {kind}\nsize_bytes: {size}\nmodified_time: {day}\npermissions: {mode}", f"{path} has {size} bytes and was modified on {day}."


def get_directory_tree(random, arguments, slots):
    files, folder = [slots.file_name() for _ in range(random.choice([0, 1, 2, 3]))], slots.folder_name()
    path = arguments["path"].rstrip("/")
    below = "".join(f"\n    {name}" for name in files)
    more = f"\n[+{random.randint(2, 300)} lines]" if random.random() < 0.15 else ""
    path_name = "the folder" if path == "." else path
    return f"{path}/\n  {folder}/{below}{more}\n1 directories, {len(files)} files", f"Here is the tree of {path_name}."


def bash(random, arguments, slots):
    if random.random() < 0.2:
        return "(no output)", "The command finished without output."
    lines = [slots.phrase(1, 6) if random.random() < 0.6 else slots.code() for _ in range(random.choice([1, 1, 1, 2, 4]))]
    if len(lines) == 4 and random.random() < 0.5:
        lines.append(f"[+{random.randint(2, 400)} lines]")
    return "\n".join(lines), "Here is what the command printed."


def test(random, arguments, slots):
    failed, passed = random.choice([0, 0, 0, 1, 1, 2, random.randint(1, 20)]), random.choice([1, 2, 3, 4, random.randint(0, 400)])
    framework = random.choice(["node", "node", "vitest", "pytest", "jest", "npm", "go", "cargo"])
    line = f"{framework}: {passed} passed, {failed} failed, 0 skipped."
    if failed == 0:
        return line, f"All {passed} tests passed."
    name, file = slots.few_words(), slots.file()
    sentence = f"{failed} test{'' if failed == 1 else 's'} failed, {passed} passed."
    return f"Error: {line}\nFAILED {name} ({file}:{random.randint(1, 99)})\n  {random.randint(-9, 99)} == {random.randint(0, 99)}", sentence


def git_status(random, arguments, slots):
    branch = random.choice(["main", "main", "master", "dev", slots.identifier()])
    changed, new = [slots.file() for _ in range(random.choice([0, 1, 1, 2]))], [slots.file() for _ in range(random.choice([0, 0, 1]))]
    if not changed and not new:
        return f"On branch {branch}.\nNothing to commit: the working tree is clean.", f"On branch {branch}, nothing to commit."
    text = f"On branch {branch}."
    if changed:
        kind = random.choice(["Changed but not staged", "Changed but not staged", "Staged"])
        text += f"\n{kind}:" + "".join(f"\n  {random.choice(['modified', 'modified', 'deleted'])}: {file}" for file in changed)
    if new:
        text += "\nUntracked:" + "".join(f"\n  {file}" for file in new)
    return text, f"On branch {branch}, there are changes."


def git_diff(random, arguments, slots):
    if random.random() < 0.2:
        clean = "No differences here. Nothing is staged." if arguments.get("staged") else "No differences: the working tree is clean."
        return clean, "There are no changes."
    lines = []
    for _ in range(random.choice([1, 1, 2])):
        lines += [f"+++ b/{slots.file()}", f"-{slots.fragment()}", f"+{slots.fragment()}"]
    return "\n".join(lines), "Here are the changes."


def git_commit(random, arguments, slots):
    commit = "".join(random.choice("0123456789abcdef") for _ in range(10))
    branch = random.choice(["main", "main", "master", slots.identifier()])
    return f"Committed {commit} on {branch}: {arguments['message']}", f"Committed as {commit}."


def web_search(random, arguments, slots):
    if random.random() < 0.1:
        return f"Nothing was found for '{arguments['query']}'.", f"Nothing was found for {arguments['query']}."
    hits = [f"{i}. {slots.capital(slots.few_words())} - https://{slots.word()}.{random.choice(['com', 'org', 'dev', 'io'])}/{slots.word()}" for i in range(1, random.choice([2, 3, 4]))]
    return "\n".join(hits), "Here are the results."


def echo(random, arguments, slots):
    return arguments["message"], arguments["message"]


RESULTS = {
    made.__name__: made
    for made in (
        read_text_file, list_directory, search_files, search_grep, write_file, edit_file, create_directory, delete_file, move_file, get_file_info,
        get_directory_tree, bash, test, git_status, git_diff, git_commit, web_search, echo,
        append_file, insert_lines,
    )
}


def shortened(text, fits):
    """As the backend shows results of earlier steps: whole lines from the beginning while they fit, then how many are left.

    fits  whether a text is short enough
    """
    if fits(text):
        return text
    lines = text.split("\n")
    kept = []
    while len(kept) < len(lines) - 1:
        rest = len(lines) - len(kept) - 1
        if not fits("\n".join([*kept, lines[len(kept)], f"[+{rest} line{'' if rest == 1 else 's'}]"])):
            break
        kept.append(lines[len(kept)])
    if not kept:
        words = lines[0].split(" ")
        while len(words) > 1 and not fits(" ".join(words) + " [cut]"):
            words.pop()
        kept = [" ".join(words) + " [cut]"]
    left = len(lines) - len(kept)
    return "\n".join(kept + ([f"[+{left} line{'' if left == 1 else 's'}]"] if left > 0 else []))
