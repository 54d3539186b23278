import { existsSync } from "node:fs"
import { join } from "node:path"
import { stateTextOf } from "@toolwright/host/state-files"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError } from "../options.ts"
import type { MadeFiles } from "../scaffold/project.ts"
import { usageText } from "../usage.ts"

export const newCommand: Command = {
  name: "new",
  summary: "Make a tool, an agent, a format or a prompt, to be changed into your own",
  usage: usageText({
    synopsis: ["new tool|agent|format|prompt <name>"],
    description:
      "Writes one that works: tools/<name>.ts and its test, agents/<name>.yaml, formats/<name>.ts or " +
      "prompts/<name>.yaml, in the current folder. Nothing that is there is touched.",
    examples: [
      { line: "toolwright new tool list_prices", does: "tools/list-prices.ts and tests/list-prices.test.ts" },
      { line: "toolwright new prompt release_notes", does: "Rendered by: toolwright prompts --prompts prompts" },
    ],
  }),
  async run({ args, cwd, env, stdout }) {
    const [kind, name] = parseOptions(args, {}, { max: 2 }).positionals
    const make = kind === undefined || !Object.hasOwn(KINDS, kind) ? undefined : KINDS[kind]
    if (make === undefined)
      throw usageError("What is to be made?", "Write tool, agent, format or prompt, and its name.")
    if (name === undefined || !/^[a-z][a-z0-9_-]{0,60}$/.test(name))
      throw usageError(
        "It needs a name of small letters, digits, '_' and '-'.",
        `For example: toolwright new ${kind} ${likelyName(name)}`,
      )
    const [parts, { writeNew }] = await Promise.all([import("../scaffold/parts.ts"), import("../scaffold/write.ts")])
    const { files, next, yours, setting } = make(parts, name)
    const { trusted, again } = await keptTrust(cwd, env)
    writeNew(cwd, files)
    await again()
    const line = trusted && setting !== undefined && takes(cwd, setting) ? next.replace(/ --\w+ \.\/\w+/, "") : next
    stdout.write(
      `${Object.keys(files)
        .map((file) => `made ${file}\n`)
        .join("")}${asStarted(line, env)}\n${yours === undefined ? "" : `${yours}\n`}`,
    )
    if (setting !== undefined && !isSet(cwd, setting))
      stdout.write(
        `To leave out the flag: write '${setting}' into toolwright.yaml, then ${asStarted("toolwright trust", env)}\n`,
      )
    return EXIT.success
  },
}

/** The name that was given, as it may be; any where none was. */
function likelyName(given = ""): string {
  const words =
    given
      .replace(/([a-z\d])([A-Z])/g, "$1_$2")
      .toLowerCase()
      .match(/[a-z\d]+/g) ?? []
  return (
    words
      .join("_")
      .replace(/^[\d_]+/, "")
      .slice(0, 60) || "my_own"
  )
}

/** Whether the configuration of a folder says anything of that kind. */
function isSet(cwd: string, setting: string): boolean {
  const [key] = setting.split(":")
  return configurationIn(cwd)
    .split("\n")
    .some((line) => line.startsWith(`${key}:`))
}

/** Of a folder that somebody else may have made: a pipe or a device in its place says nothing. */
const configurationIn = (cwd: string): string => stateTextOf(join(cwd, "toolwright.yaml")) ?? ""

/** Whether it takes the folder that a line of it would name. */
function takes(cwd: string, setting: string): boolean {
  const [folder] = /\.\/\w+/.exec(setting) ?? []
  return isSet(cwd, setting) && configurationIn(cwd).includes(folder!)
}

/** What is made here changes what a trusted configuration names: it stays trusted, since the user asked for it. */
async function keptTrust(
  cwd: string,
  env: Invocation["env"],
): Promise<{ trusted: boolean; again: () => Promise<void> }> {
  const path = join(cwd, "toolwright.yaml")
  if (!existsSync(path)) return { trusted: false, again: async () => {} }
  const { isTrusted, readConfigurationFile, trustFile } = await import("@toolwright/runtime/configuration")
  const trusted = await readConfigurationFile(path).then(
    (file) => isTrusted(file, env),
    () => false,
  )
  const again = async (): Promise<void> => {
    if (trusted) trustFile(await readConfigurationFile(path), env)
  }
  return { trusted, again }
}

/** Whoever has the command from npx alone has no other by its name. */
function asStarted(next: string, env: Invocation["env"]): string {
  return env["npm_command"] === "exec" ? next.replace("toolwright", "npx toolwright") : next
}

type Parts = typeof import("../scaffold/parts.ts")

interface Made {
  readonly files: MadeFiles
  /** How it is tried, right now and in this folder. */
  readonly next: string
  /** Where what was made becomes one's own. */
  readonly yours?: string
  /** The line of the configuration that stands for the flag in `next`. */
  readonly setting?: string
}

const KINDS: Readonly<Record<string, (parts: Parts, name: string) => Made>> = {
  tool: ({ fileName, toolFile, toolTest }, name) => ({
    files: { [`tools/${fileName(name)}.ts`]: toolFile(name), [`tests/${fileName(name)}.test.ts`]: toolTest(name) },
    next: `Try it: toolwright tools call ${name} --text hello --tools ./tools`,
    yours: `Say what it does in tools/${fileName(name)}.ts, in 'description', 'parameters' and 'execute'.`,
    setting: "tools: [./tools]",
  }),
  agent: ({ agentFile }, name) => ({
    files: { [`agents/${name}.yaml`]: agentFile(name) },
    next: `Try it: toolwright run "what is in this folder?" --agent ${name} --agents ./agents --model … --base-url …`,
    setting: "agents: { files: [./agents] }",
  }),
  format: ({ formatFile }, name) => ({
    files: { [`formats/${name}.ts`]: formatFile(name) },
    next: `Try it: toolwright format try formats/${name}.ts, and use it with --format-file formats/${name}.ts`,
  }),
  prompt: ({ promptFile }, name) => ({
    files: { [`prompts/${name}.yaml`]: promptFile(name) },
    next: `Try it: toolwright prompts render ${name} --prompts prompts --arg text=hello`,
  }),
}
