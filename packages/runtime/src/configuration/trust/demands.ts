import { createHash } from "node:crypto"
import { dirname } from "node:path"
import { stateTextOf } from "@toolwright/host/state-files"
import { shellWord } from "@toolwright/toolbox/shell-word"
import { agentFilesIn, type AgentFile } from "../../agents/files.ts"
import type { FileSettings } from "../file.ts"
import { mask } from "../mask.ts"
import type { Setting } from "../setting.ts"
import { filesNamedBy, serversIn } from "./named-files.ts"

/** One thing that a setting would do: a verb for the eye, and to what. */
export interface Demand {
  readonly verb: string
  readonly what: string
  /** What it says at length, line by line: an agent's description. */
  readonly text?: readonly string[]
}

/** Longest demand that is shown; what is left out is counted. Blanks are drawn together first, so that none hides. */
const SHOWN_CHARS = 2000

/**
 * What a value of a setting would do.
 *
 * @param free the part of the value that needs no trust
 * @param cwd where the person is who is asked: a program that starts elsewhere is said to
 */
export function demandsOf(setting: Setting, value: unknown, free: unknown, cwd: string): Demand[] {
  const tell = TELLERS[setting.key]
  return (tell?.(value, free, cwd) ?? [{ verb: "set", what: `${setting.key}: ${jsonOf(value)}` }]).map(
    ({ verb, what, text }): Demand => ({
      verb,
      what: shortened(what),
      ...(text === undefined ? {} : { text: shortenedLines(text) }),
    }),
  )
}

/**
 * What trust in a file is bound to: its content, the content of the files in which it keeps servers or calls, and that
 * of the modules and programs that it names. A change of any of them asks again.
 */
export function digestOf({ path, content, values }: FileSettings): string {
  const hash = createHash("sha256").update(content)
  for (const key of ["mcp.file", "model.screenplay"]) {
    const named = values.get(key)
    if (typeof named === "string") hash.update(`\0${key}\0`).update(stateTextOf(named, { follow: true }) ?? "")
  }
  for (const agent of agentTexts(values.get("agents.files"))) hash.update(`\0${agent.path}\0`).update(agent.text)
  for (const named of filesNamedBy(values, dirname(path))) hash.update(`\0${named.path}\0`).update(named.content)
  return hash.digest("hex")
}

/** The agents in files that are named; of what cannot be read there is nothing to trust. */
function agentTexts(named: unknown): AgentFile[] {
  if (!Array.isArray(named)) return []
  return named.flatMap((path) => {
    try {
      return agentFilesIn(String(path))
    } catch {
      return []
    }
  })
}

type Teller = (value: unknown, free: unknown, cwd: string) => Demand[]

const showsHidden = (value: unknown, free: unknown): Demand[] => [
  { verb: "show", what: `to tools what is hidden: ${without(value, free).join(", ")}` },
]

const openFor =
  (purpose: string): Teller =>
  (value, free) =>
    without(value, free).map((folder) => ({ verb: "open", what: `${folder} for ${purpose}` }))

const TELLERS: Readonly<Record<string, Teller>> = {
  "model.baseUrl": (url) => [
    { verb: "send", what: `what you and the model say, and your key for it, to ${withoutUser(url)}` },
  ],
  "model.backend": (backend) => [
    {
      verb: "send",
      what: `what you and the model say, and your key for it, to the usual server of ${String(backend)}`,
    },
  ],
  "model.apiKey": (key) => [
    { verb: "use", what: `its own key ${mask(String(key))} for the model's server, in place of none` },
  ],
  "model.apiKeyEnv": (name) => [{ verb: "send", what: `the value of ${String(name)} to the model's server` }],
  "model.path": (path) => [{ verb: "load", what: `the model in ${String(path)}` }],
  "model.formatFile": (path) => [{ verb: "load", what: `the format in ${String(path)}` }],
  "model.screenplay": (path) => [{ verb: "play", what: `the calls in ${String(path)}, in a model's place` }],
  "workspace.roots": openFor("reading and writing"),
  "workspace.readOnly": openFor("reading"),
  "workspace.denyRead": showsHidden,
  "permissions.denyPaths": showsHidden,
  "workspace.denyWrite": (value, free) => [
    { verb: "open", what: `to writing what is protected: ${without(value, free).join(", ")}` },
  ],
  "builtins.bash.sandbox": () => [{ verb: "run", what: "commands outside the sandbox" }],
  "permissions.allow": (tools) => [{ verb: "allow", what: `without asking: ${(tools as string[]).join(", ")}` }],
  "secrets.shown": (kinds) => [
    { verb: "show", what: `to the model secrets of these kinds: ${(kinds as string[]).join(", ")}` },
  ],
  "agents.files": (places) =>
    (places as string[]).flatMap((place) => [
      { verb: "take", what: `the agents in ${place}` },
      ...agentTexts([place]).map(({ name, text }) => ({
        verb: "instruct",
        what: `a model as '${name}'`,
        text: text.split("\n"),
      })),
    ]),
  "agents.define": (agents) =>
    Object.entries(agents as Record<string, unknown>).map(([name, definition]) => ({
      verb: "instruct",
      what: `a model as '${name}'`,
      text: linesOf(JSON.parse(jsonOf(definition))),
    })),
  tools: (places) => (places as string[]).map((place) => ({ verb: "load", what: `the tools in ${place}` })),
  "calls.middleware": (files) => (files as string[]).map((file) => ({ verb: "load", what: `the program ${file}` })),
  "runs.database": (database) => [
    { verb: "write", what: `records of runs to ${String(database).replace(/:[^:@/]*@/, ":•••@")}` },
  ],
  "sources.rest": (services) =>
    Object.entries(services as Record<string, unknown>).flatMap(([name, service]) => {
      const { url = service, tokenEnv } = (service ?? {}) as { url?: unknown; tokenEnv?: unknown }
      const token = tokenEnv === undefined ? [] : [String(tokenEnv)]
      return [
        { verb: "connect", what: `to the tools service '${name}' at ${withoutUser(url)}` },
        ...sends(token, `the tools service '${name}'`),
      ]
    }),
  "sources.services": (list) =>
    (list as string[]).map((url) => ({ verb: "connect", what: `to the tools service ${withoutUser(url)}` })),
  "mcp.servers": (servers, _free, cwd) => serverDemands(servers, cwd),
  "mcp.file": (file, _free, cwd) => [
    { verb: "read", what: `MCP servers from ${String(file)}` },
    ...serverDemands(serversIn(file), cwd),
  ],
  "mcp.folder": (folder) => [
    { verb: "start", what: `the MCP servers of mcp.connect and mcp.file in the folder ${String(folder)}` },
  ],
  "mcp.connect": (list) =>
    (list as string[]).flatMap((server) => [
      /^(?:[A-Za-z][\w-]*=)?https?:\/\//.test(server.trim())
        ? { verb: "connect", what: `to the MCP server ${withoutUser(server)}` }
        : { verb: "start", what: `the MCP server ${server}` },
      ...sends(variablesIn(server), `the MCP server ${withoutUser(server)}`),
    ]),
}

function serverDemands(servers: unknown, here: string): Demand[] {
  if (typeof servers !== "object" || servers === null) return []
  return Object.entries(servers).flatMap(([name, entry]: [string, unknown]): Demand[] => {
    const server = (entry ?? {}) as Record<string, unknown>
    if (server.enabled === false || server.disabled === true) return []
    const told = sends(variablesIn(server), `the MCP server '${name}'`)
    if (server.command === undefined) {
      return [{ verb: "connect", what: `to the MCP server '${name}' at ${withoutUser(server.url)}` }, ...told]
    }
    const words = [server.command, ...(Array.isArray(server.args) ? (server.args as unknown[]) : [])].map(String)
    const env = Object.entries((server.env ?? {}) as Record<string, unknown>).map(
      ([key, set]) => `${key}=${String(set)}`,
    )
    const where = server.cwd === undefined || server.cwd === here ? "" : ` in the folder ${String(server.cwd)}`
    const command = [...env, ...words].map(shellWord).join(" ")
    return [{ verb: "start", what: `the MCP server '${name}'${where}: ${command}` }, ...told]
  })
}

/**
 * Names of the variables of the environment whose values stand in what is sent or started: `${NAME}`, `${env:NAME}`.
 */
function variablesIn(entry: unknown): string[] {
  const found = (JSON.stringify(entry) ?? "").matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)/g)
  return [...new Set([...found].map(([, name]) => name!))]
}

/** What leaves this environment is said by itself: in an address or a header nobody looks for it. */
function sends(variables: readonly string[], to: string): Demand[] {
  return variables.length === 0 ? [] : [{ verb: "send", what: `the value of ${variables.join(", ")} to ${to}` }]
}

/** Entries of a list that are not in its free part. */
function without(value: unknown, free: unknown): string[] {
  const kept = Array.isArray(free) ? (free as unknown[]) : []
  return (value as string[]).filter((entry) => !kept.includes(entry))
}

function withoutUser(url: unknown): string {
  return String(url).replace(/\/\/[^/@]*@/, "//••••@")
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, (key, each: unknown) =>
    typeof each === "string" && /token|key|secret|password|dsn/i.test(key) && !/env$/i.test(key) ? mask(each) : each,
  )
}

/** A value as one would write it into the file: a key a line, and texts line by line. */
function linesOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [JSON.stringify(value)]
  return Object.entries(value).flatMap(([key, each]) => {
    const name = /^\w+$/.test(key) ? key : JSON.stringify(key)
    const isText = typeof each === "string" && each.includes("\n")
    const inner = isText ? each.split("\n") : linesOf(each)
    const isNested = isText || (typeof each === "object" && each !== null && !Array.isArray(each))
    return isNested ? [`${name}:`, ...inner.map((line) => `  ${line}`)] : [`${name}: ${inner.join(" ")}`]
  })
}

/** The deepest that a line may begin, so that none stands where nobody looks. */
const DEEPEST = 12

/** Line by line, without what lines could be hidden behind: many empty ones, or one that begins far to the right. */
function shortenedLines(lines: readonly string[]): string[] {
  const tidy = lines
    .map((line) => {
      const inner = line.replaceAll(/\s+/g, " ").trim()
      return inner === "" ? "" : `${" ".repeat(Math.min(DEEPEST, line.search(/[^ ]/)))}${inner}`
    })
    .filter((line, at, all) => line !== "" || (all[at + 1] ?? "") !== "")
  const shown: string[] = []
  let room = SHOWN_CHARS
  for (const line of tidy) {
    if (room <= 0) break
    shown.push(line.slice(0, room))
    room -= line.length + 1
  }
  const left = tidy.join("\n").length - shown.join("\n").length
  return left > 0 ? [...shown, `… and ${left} characters more`] : shown
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length <= SHOWN_CHARS
    ? line
    : `${line.slice(0, SHOWN_CHARS)}… and ${line.length - SHOWN_CHARS} characters more`
}
