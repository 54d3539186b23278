import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { read, root } from "./run-example.ts"

/** The rows of the page: a promise, and the files and names of the tests that hold it. */
const rows = read("docs/promises.md")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| ---") && !/^\| (promise|sentence|option) /.test(line))
  .map((line) => {
    const [, promise = "", held = ""] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    const tests = held.split("<br>").map((each) => each.replaceAll("`", "").trim().split(" > "))
    return { promise: promise.replaceAll("\\|", "|"), tests }
  })

test("every promise names a test that is there", () => {
  const missing = rows.flatMap(({ promise, tests }) =>
    tests
      .filter(([file = "", name = ""]) => name === "" || !existsSync(join(root, file)) || !read(file).includes(name))
      .map((held) => ({ promise, held })),
  )
  expect(missing).toEqual([])
})

test("what is promised for another page stands there, word for word", () => {
  const gone = rows.filter(({ promise }) => {
    const [, page, sentence] = /^([\w-]+\.md): (.*)$/.exec(promise) ?? []
    return page !== undefined && !read(`docs/${page}`).replaceAll(/\s+/g, " ").includes(sentence!)
  })
  expect(gone).toEqual([])
})

/** Words by which a sentence promises something. */
const PROMISING =
  /\b(never|always|cannot|only|every|each|nothing|nobody|none|no|not|any|same|all|whatever|whichever|whoever|neither|nor|anything|nowhere|everything|everybody)\b/i

/** Sentences with such a word that promise nothing, each with the reason. */
const DESCRIPTIONS = new Map<string, string>([
  ["What an allowed tool does with what it was allowed is not a weakness.", "says what is not promised"],
  [
    "(`search` starts ripgrep, and SQLite runs in a process of its own; no call says which program that is.)",
    "says which programs the page is not about",
  ],
  [
    "Folders are looked through from the top down, 4,000 of them: a repository that lies deeper is not protected " +
      "in its place.",
    "says what is not promised",
  ],
  [
    "What cannot be promised there: a command reads and changes whatever the user may; other processes of " +
      "the user show " +
      "their environment; a process that leaves session, group and environment at once survives the call, " +
      "except under " +
      "root with control groups.",
    "says what is not promised",
  ],
  [
    "Interpreters and build tools (`node`, `python`, `make`, `npm`) that you allow run what they find, and " +
      "programs that write where they are told (`cp`, `tee`, `tar`) can write git's configuration before git " +
      "runs in the same line: an allow list with one of these is no boundary without a sandbox.",
    "says what is not promised",
  ],
  [
    "Not kept at all: what tools of other MCP servers do, what happens outside the workspace (requests, a " +
      "push), times of " +
      "files, owners, and other names of a file (hard links: the path is brought back as a file of its own).",
    "says what is not promised",
  ],
  [
    "For hosts that start their servers themselves, and for compatibility with those that speak nothing else.",
    "says for whom the command is",
  ],
  ["`@toolwright/pocket`, 2.9 million parameters in 3 MB, run in the same process.", "says what it is"],
  [
    "It is there for trying things out, for demonstrations and for tests; it is no assistant, and often " +
      "wrong outside " +
      "the phrasings that it knows.",
    "says what is not promised",
  ],
  ["From that a certainty is made, calibrated on requests that it never saw.", "says how it was made"],
  ["Any of these takes its place:", "begins a list"],
  ["'toolwright help settings' lists them all.", "says where a list is"],
  [
    "Whoever has the database could write it anew, or take out a whole run: note the last hash, which is " +
      "printed, where " +
      "they cannot.",
    "says what is not promised",
  ],
  ["Each text is asked of the model by itself; docs/blog-tools.md tells what can be set.", "says how it is done"],
  ["Start tasks that build on each other, see how they go on, stop or resume them.", "says what a command is for"],
  ['With `--jsonl` each line is `{"format"|"model"|"template", "tools", "raw"}`.', "says what goes in"],
  ["know what answers where no model is configured · docs/pocket.md", "says what a page is about"],
  ["know what is trusted, and what is not promised · docs/security.md", "says what a page is about"],
  ["describe agents of your own, and give each its files · docs/agents.md", "says what a page is about"],
  [
    "the person at the terminal, their flags and environment · yes · they could do all of it without us",
    "says who is trusted",
  ],
  [
    "tools of your own, middleware, npm packages · yes · they run in this process, with everything it may do",
    "says who is trusted",
  ],
  [
    "macOS, Windows · no. Paths, permissions and records work by the same code; nobody has attacked them there",
    "says what is not promised",
  ],
])

/** The part of a page below a heading, as far as the next one of its level. */
function section(page: string, heading: string): string {
  const [, text = ""] = page.split(`\n## ${heading}\n`)
  expect(text, `a section "${heading}"`).not.toBe("")
  return text.split(/\n## /)[0]!
}

/** What stands on the page, or promises nothing. */
const held = new Set([
  ...rows.flatMap(({ promise }) => [promise, promise.replace(/^[\w-]+\.md: /, "")]),
  ...DESCRIPTIONS.keys(),
])

/** Commands that may do harm, or keep from it: what their help says counts. */
const COMMANDS = ["run", "chat", "tools", "tasks", "work", "resume", "undo", "serve", "mcp", "trust"]

/** The others: their sentences count, and of their options those that `run` has too are held there. */
const OTHERS = (
  "build debug review triage blog agents plan runs branch approvals audit db init new demo doctor format grammar " +
  "ui prompts config completion"
).split(" ")

/** Of a command's help its description, and what the page says below: usage, options and examples are no sentences. */
const help = (command: string) =>
  section(read("docs/cli.md"), `toolwright ${command}`).replace(
    /```text\n([^]*?)```/,
    (_, usage: string) =>
      usage
        .split("\n\n")
        .slice(1)
        .join("\n\n")
        .split(/^Options/m)[0]!,
  )

/** Places whose options count, each of these commands and what they share. */
const OPTIONS = COMMANDS.map((command) => ({ command, heading: `toolwright ${command}` })).concat({
  command: "",
  heading: "Common options",
})

/** The pages; of one that is a list of promises every sentence counts, whatever its words. */
const PAGES: readonly { page: string; text: () => string; least: number; all?: true }[] = [
  { page: "README.md", text: () => read("README.md"), least: 6 },
  { page: "SECURITY.md", text: () => read("SECURITY.md"), least: 0 },
  { page: "docs/security.md", text: () => read("docs/security.md"), least: 6 },
  {
    page: "docs/security.md, what holds on every system",
    text: () => section(read("docs/security.md"), "What holds on every system"),
    least: 9,
    all: true,
  },
  { page: "docs/sandbox.md", text: () => read("docs/sandbox.md"), least: 6 },
  { page: "docs/undo.md", text: () => read("docs/undo.md"), least: 6 },
  { page: "docs/pocket.md", text: () => read("docs/pocket.md"), least: 8 },
  {
    page: "docs/console.md, what it may do",
    text: () => section(read("docs/console.md"), "What it may do"),
    least: 2,
  },
  {
    page: "docs/grammars.md, exact, refused, or relaxed",
    text: () => section(read("docs/grammars.md"), "Exact, refused, or relaxed"),
    least: 2,
  },
  {
    page: "docs/cli.md, what holds for all commands",
    text: () => section(read("docs/cli.md"), "What holds for all commands"),
    least: 9,
    all: true,
  },
  ...[...COMMANDS, ...OTHERS].map((command) => ({ page: `help of ${command}`, text: () => help(command), least: 0 })),
]

/**
 * The sentences of a page's prose: of its paragraphs and lists, without code, headings, tables, a paragraph's name, a
 * link that stands alone, and what says itself that it promises nothing.
 */
function sentences(text: string): string[] {
  return text
    .replaceAll(/```[^]*?```/g, "")
    .replaceAll(/\n## What (?:is not promised|it costs)\n[^]*?(?=\n## |$)/g, "")
    .split(/\n\n|\n(?=- )/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, " ").trim())
    .filter((paragraph) => paragraph !== "" && !/^[|#]/.test(paragraph))
    .flatMap((paragraph) => paragraph.replace(/^- /, "").split(/(?<=[.!?:]\**)\s+(?=[A-Z`*('])|(?<=\.)\s+(?=\[)/))
    .filter((sentence) => !/^(?:\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))$/.test(sentence))
}

test.each(PAGES)("each sentence of $page that promises something is among them", ({ page, text, least, all }) => {
  const promising = sentences(text()).filter((sentence) => all === true || PROMISING.test(sentence))
  expect(promising.length, page).toBeGreaterThanOrEqual(least)
  expect(promising.filter((sentence) => !held.has(sentence))).toEqual([])
})

/** The rows of a page's tables, without their heads: the cells of each as one text, links as their words. */
function tableRows(text: string): string[] {
  const lines = text.replaceAll(/```[^]*?```/g, "").split("\n")
  return lines
    .filter((line, at) => line.startsWith("|") && !line.startsWith("| ---") && !lines[at + 1]?.startsWith("| ---"))
    .map((line) =>
      line
        .slice(1)
        .replace(/\|\s*$/, "")
        .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1"),
    )
    .map((row) =>
      row
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim())
        .join(" · "),
    )
}

/** Pages whose tables promise. */
const TABLES = ["README.md", "docs/security.md", "docs/sandbox.md"]

test.each(TABLES)("each row of a table of %s that promises something is among them", (page) => {
  const promising = tableRows(read(page)).filter((row) => PROMISING.test(row))
  expect(promising.length, page).toBeGreaterThanOrEqual(3)
  expect(promising.filter((row) => !held.has(row))).toEqual([])
})

/** The options of a part of docs/cli.md, each with its command before it and the lines that go on below as one text. */
function optionLines({ command, heading }: { command: string; heading: string }): { option: string; text: string }[] {
  const [, block = ""] = /```text\n([^]*?)```/.exec(section(read("docs/cli.md"), heading)) ?? []
  const options: { option: string; text: string }[] = []
  for (const line of block.slice(0, block.search(/^Examples:$|(?![^])/m)).split("\n")) {
    const [, flags, text = ""] = /^ +((?:-\w, )?--\S.*?) {2,}(\S.*)$/.exec(line) ?? []
    if (flags !== undefined) options.push({ option: `${command} ${flags}`.trim(), text })
    else if (/^ {10}/.test(line) && options.length > 0) options.at(-1)!.text += ` ${line.trim()}`
  }
  return options
}

/** How a row of the page says an option. */
const optionRow = ({ option, text }: { option: string; text: string }) => `\`${option}\`: ${text}`

test.each(OPTIONS)("each option under $heading that promises something is among them", (place) => {
  const options = optionLines(place)
  expect(options.length, "options are found").toBeGreaterThan(0)
  const promising = options.filter(({ text }) => PROMISING.test(text)).map(optionRow)
  expect(promising.filter((row) => !held.has(row))).toEqual([])
})

test("what counts as description is still said, and has a reason", () => {
  const said = new Set([
    ...PAGES.flatMap(({ text }) => sentences(text())),
    ...TABLES.flatMap((page) => tableRows(read(page))),
    ...OPTIONS.flatMap((place) => optionLines(place).map(optionRow)),
  ])
  expect([...DESCRIPTIONS].filter(([sentence, reason]) => !said.has(sentence) || reason === "")).toEqual([])
})
