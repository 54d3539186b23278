import { createHash } from "node:crypto"
import { ToolwrightError } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"

/** One migration of a folder. */
export interface Migration {
  version: number
  name: string
  file: string
  up: string
  /** SQL that takes it back, where there is such a file. */
  down: string | undefined
  /** First 16 hexadecimal digits of the SHA-256 of `up`, line ends as LF. */
  checksum: string
  isTransactional: { up: boolean; down: boolean }
}

const NAME = /^(\d{1,14})_([A-Za-z0-9][A-Za-z0-9_-]{0,99})\.(up|down)\.sql$/
const MAX_BYTES = 5 * 1024 * 1024
const MAX_FILES = 5000
const NO_TRANSACTION = /^\s*--\s*toolwright:\s*no-transaction\b/

/**
 * Reads a folder of migrations, in order of version. Files that do not end in `.sql` are ignored; links, wrong names
 * and versions that occur twice are errors, for leaving one out silently would change what "up to date" means.
 *
 * @throws ToolwrightError `NO_MIGRATIONS`, `INVALID_MIGRATION`, and what the workspace says
 */
export async function readMigrations(workspace: Workspace, folder: string): Promise<Migration[]> {
  const { entries } = await listing(workspace, folder)
  const halves = new Map<number, { name: string; up?: string; down?: string; file?: string }>()
  for (const entry of entries) {
    if (!entry.name.endsWith(".sql")) continue
    const parts = NAME.exec(entry.name)
    if (parts === null)
      throw invalid(
        `${entry.name} is no migration's name.`,
        "Name it like 0001_create_users.up.sql, with 0001_create_users.down.sql to take it back.",
      )
    if (!entry.isFile()) throw invalid(`${entry.name} is no regular file.`)
    const [, digits, name, direction] = parts as unknown as [string, string, string, "up" | "down"]
    const half = halves.get(Number(digits)) ?? { name }
    if (half.name !== name || half[direction] !== undefined) {
      throw invalid(
        `Version ${Number(digits)} occurs twice: ${half.name} and ${name}.`,
        "Give one of them another number.",
      )
    }
    half[direction] = (await workspace.read(`${folder}/${entry.name}`, MAX_BYTES)).bytes.toString("utf8")
    if (direction === "up") half.file = entry.name
    halves.set(Number(digits), half)
  }
  return [...halves]
    .sort(([one], [other]) => one - other)
    .map(([version, { name, up, down, file }]) => {
      if (up === undefined || file === undefined)
        throw invalid(`Version ${version} (${name}) has a down file but no up file.`)
      return {
        version,
        name,
        file,
        up,
        down,
        checksum: checksumOf(up),
        isTransactional: { up: !NO_TRANSACTION.test(up), down: !NO_TRANSACTION.test(down ?? "") },
      }
    })
}

/** The checksum that is kept of a migration's SQL. */
export function checksumOf(sql: string): string {
  return createHash("sha256").update(sql.replaceAll("\r\n", "\n")).digest("hex").slice(0, 16)
}

async function listing(workspace: Workspace, folder: string) {
  try {
    const found = await workspace.list(folder)
    if (found.entries.length > MAX_FILES) throw invalid(`The folder ${folder} has more than ${MAX_FILES} files.`)
    return found
  } catch (thrown) {
    const code = (thrown as { code?: unknown } | null)?.code
    if (code !== "ENOENT" && code !== "NOT_FOUND") throw thrown
    throw new ToolwrightError("NO_MIGRATIONS", `There is no folder ${folder} with migrations.`, {
      hint:
        `Write the first one to ${folder}/0001_create_users.up.sql, and how to take it back to ` +
        `${folder}/0001_create_users.down.sql.`,
    })
  }
}

function invalid(message: string, hint?: string): ToolwrightError {
  return new ToolwrightError("INVALID_MIGRATION", message, hint === undefined ? {} : { hint })
}
