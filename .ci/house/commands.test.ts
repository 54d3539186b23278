import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createScriptedBackend, serveBackend } from "../../packages/backends/src/scripted/index.ts"
import { builtCommand } from "../../packages/cli/src/testing/built-command.ts"
import { startHere } from "../../packages/cli/src/testing/run-here.ts"
import { writeGguf } from "../../packages/backends/src/testing/gguf-writer.ts"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { read, root } from "./run-example.ts"

/** Every command of the README and the documentation, run as it stands; only addresses are those of stand-ins. */
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
]

/** What is not run here, and why. */
const ELSEWHERE: readonly [RegExp, string][] = [
  [
    /^(npm|git|docker|openssl|llama-server)\b/,
    "installs, builds or tests the repository, or is another program's own command",
  ],
  [/^alias /, "names the command in the reader's shell"],
  [/^(\w+=\S+ )*(claude|codex|opencode|llama-server)\b/, "belongs to another program"],
  [
    /toolwright (init|new)\b|^cd my-tools|count_words|how many words/,
    "makes a project and calls its tool: commands/init.test.ts plays that whole page",
  ],
  [/^(eval "\$\()?toolwright completion/, "is for the reader's shell: completion.test.ts"],
  [/^node --conditions/, "runs a script of the repository, which has tests of its own"],
  [
    /^(npx )?toolwright (chat|demo)\b/,
    "is a conversation, or takes a minute: commands/chat.test.ts, commands/demo.test.ts",
  ],
  [/^npx (?:vitest run|changeset)\b/, "is for whoever changes the repository, where the tests that it runs do run"],
  [/tools call count_lines/, "calls the tool that the page has its reader write"],
  [/toolwright ui\b/, "serves until it is stopped, and opens a browser: commands/ui.test.ts"],
  [/toolwright doctor/, "fails where the model calls nothing: commands/doctor.test.ts"],
  [/format infer http/, "asks a server that shows its template: template-source/read-template.test.ts"],
  [/some-mcp-server|postgres:\/\//, "names a server that nobody has: import.test.ts connects to one"],
]

/** Commands whose failure is what they show, by what they then say. */
const FAIL: readonly [RegExp, RegExp][] = [
  [/grammar check --jsonl/, /./],
  [/^toolwright run "delete/, /./],
  [/toolwright (?:build|review)/, /record: /],
  [/toolwright undo/, /Nothing|nothing/],
  // The stand-in writes no file, so no owner of one has done its task.
  [/toolwright (?:work|plan (?:run|resume))/, /failed/],
  // Servers of others: none is asked from here, see `standIn`.
  [/--backend (?:ollama|anthropic)/, /No model server answers at/],
]

const commands = pages.flatMap((page) =>
  [...read(page).matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .flatMap((match) => match[1]!.replaceAll("\\\n", " ").split("\n"))
    .map((line) => line.replace(/ +# .*$/, "").trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => [page, line] as const),
)

/** What a server says once it serves. */
const SERVES = /^(?:Serving \d+ tools at|The console of this folder)/m

const here = commands.filter(([, line]) => /\btoolwright\b/.test(line) && !ELSEWHERE.some(([form]) => form.test(line)))

/** Of a model that nobody has heard of. */
const CHAT_TEMPLATE =
  "{% for m in messages %}<~{{ m.role }}~>{{ m.content }}{% for c in m.tool_calls or [] %}<~do~>{{ c.function | " +
  "tojson }}<~/do~>{% endfor %}<~end~>{% endfor %}"

let folder: string
let model: Awaited<ReturnType<typeof serveBackend>>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "commands-"))
  // Whatever is asked of it, this model reads a file and says that it is done.
  const step = { reply: "The text says so.", repeat: "always" as const }
  model = await serveBackend(createScriptedBackend({ abilities: { nativeTools: true }, steps: [step] }))
  const schema = {
    type: "object",
    properties: { name: { type: "string" } },
    required: ["name"],
    additionalProperties: false,
  }
  const files: Readonly<Record<string, string>> = {
    "README.md": "# Project\n\nOne\nTwo\nThree\n",
    "src/add.js": "// TODO: add\nexport function add(a, b) {\n  return a + b\n}\n",
    "packages/toolbox/src/define.ts": "export function defineTool() {}\n",
    "toolwright.yaml": "permissions: { allow: [bash] }\n",
    "tools.json": JSON.stringify([{ name: "look", description: "Looks", parameters: schema }]),
    "reply.txt": '[TOOL_CALLS][{"name": "look", "arguments": {"name": "x"}}]',
    "chat_template.jinja": CHAT_TEMPLATE,
    "tokenizer_config.json": JSON.stringify({ chat_template: CHAT_TEMPLATE }),
    "schema.json": JSON.stringify(schema),
    "schema.gbnf": 'root ::= "a"\n',
    questions: `${JSON.stringify({ schema, instances: [{ name: "x" }] })}\n`,
    "plan.yaml": /^```yaml\n([^]*?)^```/m.exec(read("docs/plans.md"))![1]!,
    "find-add.yaml": "steps:\n  - reply: It is in src/add.js.\n",
    "notes/a.txt": "hello\n",
    "my-project/src/b.js": "// TODO: b\n",
    "bin/toolwright": `#!/bin/sh\nexec "${process.execPath}" "${await builtCommand()}" "$@"\n`,
    "bin/npx": '#!/bin/sh\n[ "$1" = toolwright ] || exit 99\nshift\nexec toolwright "$@"\n',
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const template = { type: "string", value: CHAT_TEMPLATE } as const
  writeFileSync(join(folder, "model.gguf"), writeGguf({ "tokenizer.chat_template": template }, []))
  for (const name of ["toolwright", "npx"]) chmodSync(join(folder, "bin", name), 0o755)
})
afterAll(async () => {
  await model[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

/** What a line runs with. */
function settingsFor(line: string): Record<string, string> {
  return {
    HOME: folder,
    XDG_STATE_HOME: join(folder, "state"),
    // The README says to put the model there, for commands that name none.
    ...(/toolwright (?:build|review|work|plan (?:run|resume))/.test(line)
      ? { TOOLWRIGHT_MODEL: "m", TOOLWRIGHT_BASE_URL: model.baseUrl }
      : {}),
    TOKEN: "a-token-for-tests",
    NO_COLOR: "1",
  }
}

interface Said {
  code: number | null
  output: string
}

/** A word of a command line that says the same in every shell: nothing in it stands for something else. */
const WORD = /(?:[\w./:=@%+,-]|"[^"$`\\!]*"|'[^']*')+/g
const PLAIN = new RegExp(`^(?:${WORD.source})(?: +(?:${WORD.source}))*$`)

/** The arguments of a line, where it is the command's alone and needs no shell; nor a process, as `mcp` does. */
function argumentsOf(line: string): string[] | undefined {
  const [, command] = /^(?:npx )?toolwright (?!mcp\b)(.*)$/.exec(line) ?? []
  if (command === undefined || !PLAIN.test(command)) return undefined
  return command
    .match(WORD)!
    .map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, one = "", other = "") => one + other))
}

/** Runs a line; a server is ended as soon as it says that it serves. */
const run = (line: string): Promise<Said> => {
  const args = argumentsOf(line)
  return args === undefined ? runInShell(line) : runHere(line, args)
}

async function runHere(line: string, args: readonly string[]): Promise<Said> {
  const env = { PATH: `${folder}/bin:${process.env.PATH}`, ...settingsFor(line) }
  const { until, stop, finished } = startHere(args, { cwd: folder, env })
  const serves = await until(SERVES).then(
    () => true,
    () => false,
  )
  const { code, stdout, stderr } = await (serves ? stop() : finished)
  return { code, output: stdout + stderr }
}

function runInShell(line: string): Promise<Said> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(TOOLWRIGHT_|OPENAI_|NODE_OPTIONS|VITEST)/.test(name)),
  )
  // A server is to get the signal itself, not the shell that started it.
  const child = spawn("sh", ["-c", line.startsWith("cd ") ? line : `exec ${line}`], {
    cwd: folder,
    env: { ...env, PATH: `${folder}/bin:${env.PATH}`, ...settingsFor(line) },
    stdio: ["ignore", "pipe", "pipe"],
    // What waits for a person would outlive the test.
    timeout: 120_000,
  })
  let output = ""
  let ended = false
  const hear = (text: unknown): void => {
    output += String(text)
    if (!ended && SERVES.test(output)) ended = child.kill("SIGTERM")
  }
  child.stdout.on("data", hear)
  child.stderr.on("data", hear)
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })))
}

/** Where nobody listens: a machine may well have the server that a backend asks where none is named. */
const NOBODY = "http://127.0.0.1:1"

const standIn = (line: string): string =>
  line
    .replace(/--backend (?:ollama|anthropic)\b(?!.*--base-url)/, `$& --base-url ${NOBODY}`)
    .replaceAll(/http:\/\/localhost:(?:8080|11434)\/v1/g, model.baseUrl)
    .replaceAll(/--port \d+/g, "--port 0")
    .replace(/\bserve\b(?!.*--port)/, "serve --port 0")
    .replace(/\btoolwright ui$/, "toolwright ui --no-open")

test("there are commands, and each is run or known to belong elsewhere", () => {
  expect(here.length).toBeGreaterThan(25)
  const [apart, together] = [true, false].map((is) =>
    here.filter(([, line]) => (argumentsOf(line) === undefined) === is),
  )
  expect([apart!.length > 3, together!.length > 25]).toEqual([true, true])
  const unknown = commands.filter(
    ([, line]) => !/\btoolwright\b/.test(line) && !ELSEWHERE.some(([form]) => form.test(line)),
  )
  expect(unknown).toEqual([])
})

describe.skipIf(process.platform === "win32")("a command does what the page shows", () => {
  test.each(here)("%s: %s", async (_page, line) => {
    const { code, output } = await run(standIn(line))
    const serves = SERVES.test(output)
    const failure = FAIL.find(([form]) => form.test(line))
    if (failure !== undefined && code !== 0) expect(output).toMatch(failure[1])
    else expect([0, ...(serves ? [130] : [])], output).toContain(code)
    expect(output).not.toMatch(/Unknown (?:option|command)|takes no value|needs a value|Unexpected argument/)
  })
})
