import { statSync } from "node:fs"
import { resolve } from "node:path"
import { findConfigurationFile, readConfigurationFile, trustFile, trustStore } from "@toolwright/runtime/configuration"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { parseOptions, usageError, type OptionDeclarations } from "../options.ts"
import { neutralise } from "../render/neutralise.ts"
import { demandLines } from "../trust.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  json: { type: "boolean", description: "Of list: print JSON" },
} as const satisfies OptionDeclarations

export const trustCommand: Command = {
  name: "trust",
  summary: "Trust the toolwright.yaml of a folder as it stands, list what is trusted, or take trust back",
  usage: usageText({
    synopsis: ["trust [folder]", "trust list [options]", "trust revoke [folder]"],
    description:
      "What a toolwright.yaml would start, load, connect to or open waits until you trust the file as it stands; until then it is left out, and a line says so. --trust or TOOLWRIGHT_TRUST=1 trusts what is found for one command.",
    options: OPTIONS,
    examples: [
      { line: "toolwright trust", does: "Trust the file of this folder, or the one above it, and show what it may do" },
      { line: "toolwright trust list", does: "Which files were trusted or declined" },
      { line: "toolwright trust revoke .", does: "Forget what was said about the file of this folder" },
    ],
  }),
  details: `A file may always take things away: folders read only, tools denied, fewer of them. Trust holds for the file as it stands (and for the
files of MCP servers and the screenplay that it names): a change asks again. It is kept in your own state folder, never beside the file. A
file named with \`--config\` is trusted, since you named it.`,
  async run(invocation: Invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [word = ".", folder] = positionals
    if (word === "list" && folder === undefined) return list(invocation, values.json === true)
    if (word === "revoke") return revoke(invocation, folder ?? ".")
    if (folder !== undefined)
      throw usageError(`'trust ${word}' is not known.`, "Use trust [folder], trust list or trust revoke [folder].")
    return trust(invocation, word)
  },
}

async function trust({ cwd, env, stdout }: Invocation, given: string): Promise<number> {
  const path = fileFor(cwd, given)
  if (path === undefined) throw usageError(`There is no toolwright.yaml in ${resolve(cwd, given)} or above it.`)
  const demands = trustFile(await readConfigurationFile(path), env)
  stdout.write(
    demands.length === 0
      ? `${neutralise(path)} needs no trust: nothing in it starts programs, names servers, uses keys or opens anything.\n`
      : `${neutralise(path)} is trusted as it stands. It may:\n${demandLines(demands).join("\n")}\n`,
  )
  return EXIT.success
}

function list({ env, stdout }: Invocation, json: boolean): number {
  const store = trustStore(env)
  const entries = store.list()
  if (json) stdout.write(`${JSON.stringify(entries, null, 2)}\n`)
  else if (entries.length === 0) stdout.write(`Nothing is trusted. Answers would be kept in ${store.file}.\n`)
  for (const { path, answer, at, digest } of json ? [] : entries) {
    stdout.write(
      `${answer === "yes" ? "trusted " : "declined"}  ${at.slice(0, 10)}  ${digest.slice(0, 12)}  ${neutralise(path)}\n`,
    )
  }
  return EXIT.success
}

function revoke({ cwd, env, stdout }: Invocation, given: string): number {
  const store = trustStore(env)
  const path = resolve(cwd, given)
  const forgotten = store.revoke(path) || store.revoke(fileFor(cwd, given) ?? path)
  stdout.write(
    forgotten === 0
      ? `Nothing was said about ${neutralise(path)}; 'toolwright trust list' shows about what something was.\n`
      : `Forgotten: ${forgotten === 1 ? "one answer" : `${forgotten} answers`} about ${neutralise(path)}.\n`,
  )
  return forgotten === 0 ? EXIT.failure : EXIT.success
}

/** The file that is meant by a folder's name, or by its own. */
function fileFor(cwd: string, given: string): string | undefined {
  const path = resolve(cwd, given)
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
    ? path
    : findConfigurationFile(path, undefined, () => true)
}
