import { rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { isAlive, processStart } from "@toolwright/host/process-life"
import { makeStateFolder, stateTextOf, writeStateFile } from "@toolwright/host/state-files"
import { messageOf, ToolwrightError } from "@toolwright/toolbox/errors"

/** Who works in a workspace. */
interface Holder {
  pid: number
  runId: string
  /** When the process was started, where the system tells; what stands in a folder from elsewhere cannot know it. */
  started?: string
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
  const text = JSON.stringify(holderHere(runId))
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      makeStateFolder(dirname(folder), basename(folder))
      writeStateFile(path, text, { how: "create" })
      return lockAt(path, text)
    } catch (cause) {
      if ((cause as { code?: string }).code !== "EEXIST") throw unwritable(folder, cause)
      const holder = holderOf(path)
      if (holder !== undefined && isAlive(holder.pid) && isSame(holder)) {
        throw new ToolwrightError(
          "WORKSPACE_BUSY",
          `Another run works in this workspace: ${holder.runId} (process ${holder.pid}).`,
          {
            hint: `Wait for it to end, or stop it with 'kill ${holder.pid}'. 'toolwright runs list' shows it.`,
          },
        )
      }
      rmSync(path, { recursive: true, force: true })
    }
  }
  throw new ToolwrightError("WORKSPACE_BUSY", "Other runs keep taking this workspace.", { hint: "Try again." })
}

function holderHere(runId: string): Holder {
  const started = processStart(process.pid)
  return { pid: process.pid, runId, ...(started === undefined ? {} : { started }) }
}

/**
 * Whether the process of that number is the one that took the lock. Where the system tells when processes began, a lock
 * that does not say so was written by nobody here: one that came with a clone would name any process, and hold for
 * ever.
 */
function isSame({ pid, started }: Holder): boolean {
  return processStart(pid) === started
}

function lockAt(path: string, text: string): WorkspaceLock {
  const release = (): void => {
    try {
      if (stateTextOf(path) === text) rmSync(path, { force: true })
    } catch {
      // Gone already, with the whole workspace perhaps: there is nothing left to release.
    }
  }
  return { release, [Symbol.dispose]: release }
}

function holderOf(path: string): Holder | undefined {
  try {
    const holder = JSON.parse(stateTextOf(path) ?? "") as Partial<Holder> | null
    return Number.isSafeInteger(holder?.pid) && holder!.pid! > 0 && typeof holder?.runId === "string"
      ? (holder as Holder)
      : undefined
  } catch {
    return undefined
  }
}

function unwritable(folder: string, cause: unknown): ToolwrightError {
  const isFull = /^(?:ENOSPC|EDQUOT)$/.test((cause as NodeJS.ErrnoException | undefined)?.code ?? "")
  const first = isFull ? "The disk is full: make room" : `Make ${folder} writable`
  return new ToolwrightError("WORKSPACE_READ_ONLY", `The workspace cannot be written: ${messageOf(cause)}`, {
    cause,
    hint: `${first}, or use an agent that only reads ('review', 'triage').`,
  })
}
