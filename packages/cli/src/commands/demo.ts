import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { createDemoRepository, type DemoRepository } from "../demo/repository.ts"
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
  summary: "Watch an agent write, fail, correct and commit a function; offline",
  usage: usageText({
    synopsis: ["demo [options]"],
    description:
      "In a fresh temporary git repository an agent implements a function, fails its tests, is refused a commit and the claim to be\n" +
      "done, corrects the function and commits it: with real tools, real tests and real git. The model is a screenplay unless\n" +
      "--model and --base-url name a real one.",
    options: OPTIONS,
    examples: [
      { line: "toolwright demo", does: "Without any model" },
      { line: "toolwright demo --model qwen2.5-coder:7b --base-url http://localhost:11434/v1", does: "The same task for a real one" },
    ],
  }),
  async run(invocation) {
    const { values } = parseOptions(invocation.args, OPTIONS, { max: 0 })
    const real = values.model !== undefined || values["base-url"] !== undefined
    const json = values.json === true
    const say = (text: string): void => void (json || invocation.stdout.write(`${text}\n`))
    const repository = await createDemoRepository()
    say(introduction(repository.path, real))
    try {
      const success = await play(invocation, repository, values, real)
      if (!json) await closing(invocation, repository, values.remove === true)
      return success ? EXIT.success : EXIT.failure
    } finally {
      if (values.remove === true) await rm(repository.path, { recursive: true, force: true })
    }
  },
}

async function play(invocation: Invocation, { path }: DemoRepository, values: Readonly<Record<string, unknown>>, real: boolean): Promise<boolean> {
  const { createToolwright } = await import("@toolwright/runtime")
  const { configuration } = await configurationFor({ ...invocation, cwd: path, env: real ? invocation.env : {} }, values)
  const model = real ? configuration.model : { ...configuration.model, backend: "scripted" as const, screenplay: SCREENPLAY }
  await using toolwright = await createToolwright({ ...configuration, model, workspace: { roots: [path] }, cwd: path, env: invocation.env })
  const agent = await toolwright.fileOwner("FibonacciAgent", ["fibonacci.ts"])
  const events = agent.run({ message: TASK, task_type: "code_generation" }, { signal: invocation.signal })
  const response = await show(events, invocation, values.json === true)
  return response.success
}

function introduction(path: string, real: boolean): string {
  const model = real
    ? "The model is a real one: what it does is its own."
    : `The model is a screenplay: its replies were written beforehand (${SCREENPLAY}),
and each checks that the model would know what it needs. Tools, tests and git are real.
With a real model: toolwright demo --model qwen2.5-coder:7b --base-url http://localhost:11434/v1`
  return `${model}\n\nRepository: ${path}\nTask:       ${TASK}\n`
}

async function closing({ stdout, isTTY, env }: Invocation, { path, git }: DemoRepository, removed: boolean): Promise<void> {
  const { bold, dim } = styleFor(isTTY.stdout, env)
  const source = await readFile(join(path, "fibonacci.ts"), "utf8").catch(() => undefined)
  if (source !== undefined) stdout.write(`\n${bold("fibonacci.ts")}\n${neutralise(source.trimEnd())}\n`)
  const log = (await git("log", "--format=%h %s", "--stat")).trimEnd()
  stdout.write(`\n${bold("git log")} ${dim(`(${count(Number((await git("rev-list", "--count", "HEAD")).trim()), "commit")})`)}\n${neutralise(log)}\n`)
  stdout.write(removed ? "" : `\nLook around: ${path}\n`)
}
