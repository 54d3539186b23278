import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"

/** Who works in a workspace. */
interface Holder {
  pid: number
  runId: string
}

/** Ends the exclusive use of a workspace. */
export interface WorkspaceLock extends Disposable {
  release(): void
}

/**
 * Takes a workspace for one run that may change it. A second one is refused; a lock whose process is gone is taken
 * over.
 *
 * @param folder the workspace's `.toolwright` folder
 * @throws ToolwrightError `WORKSPACE_BUSY`, with the process and run that hold it; `WORKSPACE_READ_ONLY` when it cannot
 *   be written
 */
export function lockWorkspace(folder: string, runId: string): WorkspaceLock {
  const path = join(folder, "lock.json")
  const text = JSON.stringify({ pid: process.pid, runId } satisfies Holder)
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      mkdirSync(folder, { recursive: true })
      writeFileSync(path, text, { flag: "wx" })
      return lockAt(path, text)
    } catch (cause) {
      if ((cause as { code?: string }).code !== "EEXIST") throw unwritable(folder, cause)
      const holder = holderOf(path)
      if (holder !== undefined && isAlive(holder.pid)) {
        throw new ToolwrightError(
          "WORKSPACE_BUSY",
          `Another run works in this workspace: ${holder.runId} (process ${holder.pid}).`,
          {
            hint: `Wait for it to end, or stop it with 'kill ${holder.pid}'. 'toolwright runs list' shows it.`,
          },
        )
      }
      rmSync(path, { force: true })
    }
  }
  throw new ToolwrightError("WORKSPACE_BUSY", "Other runs keep taking this workspace.", { hint: "Try again." })
}

function lockAt(path: string, text: string): WorkspaceLock {
  const release = (): void => {
    try {
      if (readFileSync(path, "utf8") === text) rmSync(path, { force: true })
    } catch {
      // Gone already, with the whole workspace perhaps: there is nothing left to release.
    }
  }
  return { release, [Symbol.dispose]: release }
}

function holderOf(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Holder
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === "EPERM"
  }
}

function unwritable(folder: string, cause: unknown): ToolwrightError {
  return new ToolwrightError("WORKSPACE_READ_ONLY", `The workspace cannot be written: ${messageOf(cause)}`, {
    cause,
    hint: `Make ${folder} writable, or use an agent that only reads ('review', 'triage').`,
  })
}
