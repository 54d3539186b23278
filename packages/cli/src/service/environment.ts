import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { randomBytes } from "node:crypto"
import { parseEnv } from "node:util"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"

type Environment = Readonly<Record<string, string | undefined>>

/** Where a service finds its files unless variables say otherwise: where its container mounts them. */
const MOUNTS = { BASE_REPOS_PATH: "/mnt/repos", BASE_DOWNLOADS_PATH: "/mnt/downloads" } as const

/**
 * The variables that a service runs with: its own, then those of a file, then the token that `TOOLS_API_TOKEN_FILE`
 * names.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` where a file cannot be read
 */
export function serviceEnvironment(env: Environment, cwd: string, file: string | undefined): Environment {
  const said = file === undefined ? {} : parseEnv(read(resolve(cwd, file)))
  const merged: Environment = { ...said, ...env }
  const tokenFile = merged.TOOLS_API_TOKEN_FILE ?? ""
  if (tokenFile === "" || (merged.TOOLS_API_TOKEN ?? "") !== "") return merged
  return { ...merged, TOOLS_API_TOKEN: read(resolve(cwd, tokenFile)).trim() }
}

/**
 * The folders that a service's variables name, where no option names one: what is in repositories and downloads is
 * read, and prompts come from the playbooks.
 */
export function serviceFolders(
  env: Environment,
  values: { root?: unknown; "read-only"?: unknown; prompts?: unknown },
): { "read-only"?: string[]; prompts?: string[] } {
  const names = Object.keys(MOUNTS) as (keyof typeof MOUNTS)[]
  const isService = names.some((name) => (env[name] ?? "") !== "")
  const isSaid = values.root !== undefined || values["read-only"] !== undefined
  const playbooks = env.PLAYBOOKS_PATH ?? ""
  return {
    ...(isService && !isSaid ? { "read-only": names.map((name) => env[name] || MOUNTS[name]) } : {}),
    ...(playbooks !== "" && values.prompts === undefined ? { prompts: [playbooks] } : {}),
  }
}

/**
 * The token in a file, which is made where there is none, for this user alone.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` where it can neither be read nor made
 */
export function tokenIn(path: string): string {
  const made = randomBytes(24).toString("hex")
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${made}\n`, { flag: "wx", mode: 0o600 })
    return made
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw unreadable(path, thrown)
    return read(path).trim()
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (thrown) {
    throw unreadable(path, thrown)
  }
}

function unreadable(path: string, cause: unknown): ToolwrightError {
  return new ToolwrightError("INVALID_CONFIGURATION", `The file ${path} cannot be used: ${messageOf(cause)}`, { cause })
}
