import { existsSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { findConfigurationFile, readConfigurationFile, trustFile, trustStore } from "@toolwright/runtime/configuration"
import { forgetSource, letInSource, toldSources, type ToldSourceEntry } from "@toolwright/runtime/told-sources"
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
  summary:
    "Trust the toolwright.yaml of a folder, or a server's changed tools, as they stand; list that, or take it back",
  usage: usageText({
    synopsis: ["trust [folder]", "trust source <name>", "trust list [options]", "trust revoke [folder | name]"],
    description:
      "What a toolwright.yaml would start, load, connect to or open waits until you trust the file as it stands; " +
      "until then it is left out, and a line says so. --trust or TOOLWRIGHT_TRUST=1 trusts what is found for one " +
      "command. A tool of an MCP server or a tools service that is not what it was when it was let in is refused " +
      "until it is let in anew.",
    options: OPTIONS,
    examples: [
      { line: "toolwright trust", does: "Trust the file of this folder, or the one above it, and show what it may do" },
      {
        line: "toolwright trust source docs",
        does: "Let the changed tools of the server 'docs' in, as they were last told",
      },
      {
        line: "toolwright trust list",
        does: "Which files were trusted or declined, and what servers told of their tools",
      },
      { line: "toolwright trust revoke .", does: "Forget what was said about the file of this folder" },
    ],
  }),
  details: `A file may always take things away: folders read only, tools denied, fewer of them. Trust holds for the
file as it stands, for the files of MCP servers, agents and the screenplay that it names, for modules of tools and
middleware, for the programs of its folder that servers are started with, and for what these import by relative paths:
a change of any asks again. What a program reads or loads in another way, and what \`npx\` downloads, is not covered.
It is kept in your own state folder, never beside the file. A file named with \`--config\` is trusted, since you named
it.

What an MCP server or a REST tools service tells of a tool when it is first connected to is what you let in: its
description, arguments, effects. That is remembered as marks, for a server of that name and that command or address. A
tool that is told otherwise later, also after a restart, is asked about with its new description, or refused where
nobody can be asked; a yes there, or \`trust source\`, lets it in as it is told now. \`trust revoke\` with the name of
a server forgets it, so that what it tells next counts as told for the first time. \`acceptChanges: true\` in the
server's settings lets it change its tools unasked.`,
  async run(invocation: Invocation) {
    const { values, positionals } = parseOptions(invocation.args, OPTIONS, { max: 2 })
    const [word = ".", folder] = positionals
    if (word === "list" && folder === undefined) return list(invocation, values.json === true)
    if (word === "revoke") return revoke(invocation, folder ?? ".")
    if (word === "source" && folder !== undefined) return letIn(invocation, folder)
    if (folder !== undefined)
      throw usageError(
        `'trust ${word}' is not known.`,
        "Use trust [folder], trust source <name>, trust list or trust revoke [folder | name].",
      )
    return trust(invocation, word)
  },
}

async function trust({ cwd, env, stdout }: Invocation, given: string): Promise<number> {
  // A mistyped word is no folder here, and must not trust the file of the folder that it would lie in.
  if (!existsSync(resolve(cwd, given)))
    throw usageError(
      `There is no folder '${neutralise(given)}' here, so nothing was trusted.`,
      "'toolwright trust' alone is about this folder; 'trust list' shows what was said, 'trust revoke' takes it back.",
    )
  const path = fileFor(cwd, given)
  if (path === undefined) throw usageError(`There is no toolwright.yaml in ${resolve(cwd, given)} or above it.`)
  const demands = trustFile(await readConfigurationFile(path), env)
  stdout.write(
    demands.length === 0
      ? `${neutralise(path)} needs no trust: nothing in it starts programs, names servers, uses keys or ` +
          `opens anything.\n`
      : `${neutralise(path)} is trusted as it stands. It may:\n${demandLines(demands).join("\n")}\n`,
  )
  return EXIT.success
}

function list({ env, stdout }: Invocation, json: boolean): number {
  const store = trustStore(env)
  const entries = store.list()
  const sources = toldSources(env)
  if (json) {
    stdout.write(`${JSON.stringify([...entries, ...sources], null, 2)}\n`)
    return EXIT.success
  }
  if (entries.length + sources.length === 0)
    stdout.write(`Nothing is trusted. Answers would be kept in ${store.file}.\n`)
  for (const { path, answer, at, digest } of entries) {
    stdout.write(
      `${answer === "yes" ? "trusted " : "declined"}  ${at.slice(0, 10)}  ${digest.slice(0, 12)}  ` +
        `${neutralise(path)}\n`,
    )
  }
  for (const { name, target, at, tools, changed } of sources) {
    stdout.write(
      `told      ${at.slice(0, 10)}  ${`${tools} ${tools === 1 ? "tool" : "tools"}`.padEnd(12)}  ` +
        `${neutralise(`${name} (${target})`)}\n${changedLines(changed)}`,
    )
  }
  return EXIT.success
}

/** Tools that are not what they were when they were let in, and what they say now. */
function changedLines(changed: ToldSourceEntry["changed"]): string {
  return changed
    .map(({ tool, what, description }) => {
      const says = description === "" ? "" : `; it says now: ${description.replaceAll(/\s+/g, " ")}`
      return `  ${neutralise(`${tool}: ${what} changed${says}`)}\n`
    })
    .join("")
}

function letIn({ env, stdout }: Invocation, name: string): number {
  const sources = letInSource(env, name)
  const changed = sources.flatMap((source) => source.changed)
  const shown = neutralise(name)
  if (sources.length === 0)
    stdout.write(`Nothing is known of a server '${shown}'; 'toolwright trust list' shows those that are.\n`)
  else if (changed.length === 0) stdout.write(`No tool of '${shown}' has changed since it was let in.\n`)
  else stdout.write(`Let in as they were last told, by '${shown}':\n${changedLines(changed)}`)
  return sources.length === 0 ? EXIT.failure : EXIT.success
}

function revoke({ cwd, env, stdout }: Invocation, given: string): number {
  const store = trustStore(env)
  const path = resolve(cwd, given)
  // What is no path here may be the name of a server; a name is not looked for above this folder.
  const named = existsSync(path) ? 0 : forgetSource(env, given)
  // Nor is a folder that is not there, which may be mistyped: the answer about the one above it is not meant.
  const above = existsSync(path) ? fileFor(cwd, given) : undefined
  const forgotten = named || store.revoke(path) || (above === undefined ? 0 : store.revoke(above))
  stdout.write(
    forgotten === 0
      ? `Nothing was said about ${neutralise(path)}; 'toolwright trust list' shows about what something was.\n`
      : `Forgotten: ${forgotten === 1 ? "one answer" : `${forgotten} answers`} about ` +
          `${neutralise(named > 0 ? given : path)}.\n`,
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
