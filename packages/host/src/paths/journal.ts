import { randomBytes } from "node:crypto"
import { unlinkSync } from "node:fs"
import { appendFile, lstat, mkdir, readdir, readFile, rename, unlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { isAlive, startTicks } from "../process-life.ts"
import { PREFIX, SUFFIX } from "./temporary-name.ts"

/**
 * Remembers in which directories this process may have temporary files, so that the next start removes what a killed
 * one left.
 * One small file per process, one line per directory; nothing is scanned that was not written to.
 */
export interface WriteJournal {
  /** A name for a temporary file that nobody else uses. */
  temporaryName(): string
  /** Must be awaited before the first temporary file in a directory is created. */
  note(directory: string): Promise<void>
  /**
   * Removes what dead processes left.
   * @param openDirectory lists a directory and unlinks in it, or is undefined where it must not be touched
   * @returns how many files were removed
   */
  recover(openDirectory: (path: string) => Promise<DebrisDirectory | undefined>): Promise<number>
}

export interface DebrisDirectory extends AsyncDisposable {
  at(name?: string): string
}

/** @param state the state directory, made when it is first needed */
export function createJournal(state: () => Promise<string>): WriteJournal {
  const owner = `${process.pid}-${startTicks(process.pid) ?? "0"}`
  const noted = new Map<string, Promise<void>>()

  const append = async (directory: string): Promise<void> => {
    const folder = join(await state(), "writes")
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, owner)
    removeAtExit(file)
    await appendFile(file, `${JSON.stringify(directory)}\n`)
  }

  return {
    temporaryName: () => `${PREFIX}${owner}-${randomBytes(6).toString("hex")}${SUFFIX}`,
    note(directory) {
      let written = noted.get(directory)
      if (written === undefined) {
        written = append(directory)
        noted.set(directory, written)
        written.catch(() => noted.delete(directory))
      }
      return written
    },
    async recover(openDirectory) {
      let removed = 0
      const folder = join(await state(), "writes")
      for (const name of await readdir(folder).catch(() => [])) {
        const match = /^(\d+)-(\d+)$/u.exec(name)
        if (match === null || isSame(Number(match[1]), match[2]!)) continue
        const file = join(folder, name)
        const directories = parseLines(await readFile(file, "utf8").catch(() => ""))
        const left: string[] = []
        for (const path of directories) {
          const cleaned = await clean(path, `${PREFIX}${name}-`, openDirectory)
          if (cleaned === undefined) left.push(path)
          else removed += cleaned
        }
        if (left.length < directories.length || left.length === 0) await keepOnly(left, file).catch(() => undefined)
      }
      return removed
    },
  }
}

/** What is done is not looked at again by every start to come, for as long as one directory cannot be cleaned. */
async function keepOnly(directories: readonly string[], file: string): Promise<void> {
  if (directories.length === 0) return await unlink(file)
  const part = `${file}.part`
  await writeFile(part, directories.map((directory) => `${JSON.stringify(directory)}\n`).join(""))
  await rename(part, file)
}

async function clean(
  path: string,
  prefix: string,
  openDirectory: (path: string) => Promise<DebrisDirectory | undefined>,
): Promise<number | undefined> {
  if ((await lstat(path).catch(() => undefined)) === undefined) return 0
  await using directory = await openDirectory(path)
  if (directory === undefined) return undefined
  let removed = 0
  for (const name of await readdir(directory.at())) {
    if (!name.startsWith(prefix) || !name.endsWith(SUFFIX)) continue
    await unlink(directory.at(name)).catch(() => undefined)
    removed += 1
  }
  return removed
}

function parseLines(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    try {
      const path: unknown = JSON.parse(line)
      return typeof path === "string" ? [path] : []
    } catch {
      // The last line of a killed process may be cut.
      return []
    }
  })
}

/** Whether the process of that number still is the one that began then; "0" where that was not known. */
function isSame(pid: number, start: string): boolean {
  const now = startTicks(pid)
  return isAlive(pid) && (now === undefined || start === "0" || now === start)
}

const removals = new Set<string>()

/** A process that ends in order has nothing to recover. */
function removeAtExit(file: string): void {
  if (removals.size === 0) {
    process.once("exit", () => {
      for (const path of removals) {
        try {
          unlinkSync(path)
        } catch {
          // Already gone.
        }
      }
    })
  }
  removals.add(file)
}
