import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { introduction as modelIntroduction, playRequests } from "../demo/model-part.ts"
import { createDemoRepository, createFibonacciRepository, type DemoRepository } from "../demo/repository.ts"
import { PROJECT } from "../demo/requests.ts"
import { parseOptions, type OptionDeclarations } from "../options.ts"
import { neutralise } from "../render/neutralise.ts"
import { count } from "../render/short.ts"
import { styleFor } from "../render/style.ts"
import { show } from "../run-task.ts"
import { configurationFor, SETTING_OPTIONS } from "../settings-options.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  remove: { type: "boolean", description: "Remove the temporary repository afterwards" },
  json: { type: "boolean", description: "Print every event as a line of JSON" },
  model: SETTING_OPTIONS.model!,
  "base-url": SETTING_OPTIONS["base-url"]!,
  "native-tools": SETTING_OPTIONS["native-tools"]!,
} as const satisfies OptionDeclarations

const SCREENPLAY = fileURLToPath(new URL("../../demo/fibonacci.yaml", import.meta.url))
const TASK = "Create Fibonacci implementation"

export const demoCommand: Command = {
  name: "demo",
  summary: "Watch a small model answer requests, and an agent write, fail, correct and commit; offline",
  usage: usageText({
    synopsis: ["demo [options]"],
    description:
      "In fresh temporary git repositories, with real tools, real tests and real git, in two parts. First the " +
      "pocket model, which comes\n" +
      "with the package, is asked in plain English to look around, run the tests, change a line and commit; its " +
      "calls are shown as they\n" +
      "are decoded. Then an agent implements a function, fails its tests, is refused a commit and the claim to " +
      "be done, corrects the\n" +
      "function and commits it; there the model is a screenplay, and says so. --model and --base-url give that " +
      "task to a real one.",
    options: OPTIONS,
    examples: [
      { line: "toolwright demo", does: "Without any model" },
      {
        line: "toolwright demo --model qwen2.5-coder:7b --base-url http://localhost:11434/v1",
        does: "The same task for a real one",
      },
    ],
  }),
  async run(invocation) {
    const { values } = parseOptions(invocation.args, OPTIONS, { max: 0 })
    const real = values.model !== undefined || values["base-url"] !== undefined
    const json = values.json === true
    const say = (text: string): void =>
      void invocation.stdout.write(json ? `${JSON.stringify({ type: "note", text: text.trim() })}\n` : `${text}\n`)
    const first = real || (await requests(invocation, json, values.remove === true, say))
    if (invocation.signal.aborted) return EXIT.interrupted
    const second = await fibonacci(invocation, values, real, say)
    return first && second ? EXIT.success : EXIT.failure
  },
}

/** The part with the pocket model. */
async function requests(
  invocation: Invocation,
  json: boolean,
  remove: boolean,
  say: (text: string) => void,
): Promise<boolean> {
  const repository = await createDemoRepository(PROJECT, "Add up a bill")
  try {
    say(
      `${styleFor(invocation.isTTY.stdout, invocation.env).bold(await modelIntroduction())}\n   Repository: ` +
        `${repository.path}`,
    )
    const outcome = await playRequests(invocation, { repository, json, say })
    if (outcome === true && !json) say(`\n${(await repository.git("log", "-1", "--format=%h %s", "--stat")).trimEnd()}`)
    return outcome !== false
  } finally {
    if (remove) await rm(repository.path, { recursive: true, force: true })
  }
}

/** The part with the screenplay, or with a model of the user's. */
async function fibonacci(
  invocation: Invocation,
  values: Readonly<Record<string, unknown>>,
  real: boolean,
  say: (text: string) => void,
): Promise<boolean> {
  const repository = await createFibonacciRepository()
  try {
    say(introduction(repository.path, real))
    const success = await play(invocation, repository, values, real)
    if (values.json !== true) await closing(invocation, repository, values.remove === true)
    return success
  } finally {
    if (values.remove === true) await rm(repository.path, { recursive: true, force: true })
  }
}

async function play(
  invocation: Invocation,
  { path }: DemoRepository,
  values: Readonly<Record<string, unknown>>,
  real: boolean,
): Promise<boolean> {
  const { createToolwright } = await import("@toolwright/runtime")
  const { configuration } = await configurationFor(
    { ...invocation, cwd: path, env: real ? invocation.env : {} },
    values,
  )
  const model = real
    ? configuration.model
    : { ...configuration.model, backend: "scripted" as const, screenplay: SCREENPLAY }
  await using toolwright = await createToolwright({
    ...configuration,
    model,
    workspace: { roots: [path] },
    cwd: path,
    env: invocation.env,
  })
  const agent = await toolwright.fileOwner("FibonacciAgent", ["fibonacci.ts"])
  const events = agent.run({ message: TASK, task_type: "code_generation" }, { signal: invocation.signal })
  return (await show(events, invocation, values.json === true)).success
}

function introduction(path: string, real: boolean): string {
  const model = real
    ? "The model is a real one: what it does is its own."
    : `
2. A task, played by a screenplay
The model is a screenplay: its replies were written beforehand (${SCREENPLAY}),
and each checks that the model would know what it needs. Tools, tests and git are real.
With a real model: toolwright demo --model qwen2.5-coder:7b --base-url http://localhost:11434/v1`
  return `${model}\n\nRepository: ${path}\nTask:       ${TASK}\n`
}

async function closing(
  { stdout, isTTY, env }: Invocation,
  { path, git }: DemoRepository,
  removed: boolean,
): Promise<void> {
  const { bold, dim } = styleFor(isTTY.stdout, env)
  const source = await readFile(join(path, "fibonacci.ts"), "utf8").catch(() => undefined)
  if (source !== undefined) stdout.write(`\n${bold("fibonacci.ts")}\n${neutralise(source.trimEnd())}\n`)
  const log = (await git("log", "--format=%h %s", "--stat")).trimEnd()
  const commits = count(Number((await git("rev-list", "--count", "HEAD")).trim()), "commit")
  stdout.write(`\n${bold("git log")} ${dim(`(${commits})`)}\n${neutralise(log)}\n`)
  stdout.write(removed ? "" : `\nLook around: ${path}\n`)
}
