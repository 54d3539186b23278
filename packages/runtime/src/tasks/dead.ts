import { hostname } from "node:os"
import type { TaskQueue } from "@toolwright/store"

/**
 * Takes the tasks of workers of this machine whose process is not there any more: whoever closed a terminal and comes
 * back need not wait until such a worker has been silent for long enough.
 */
export async function releaseDead(queue: TaskQueue): Promise<void> {
  for (const holder of await queue.holders()) {
    const [machine, process] = holder.split("/")
    if (machine === hostname() && !isAlive(Number(process))) await queue.releaseFrom(holder)
  }
}

/** A process that may not be asked is alive; so is whatever is no process of ours to judge. */
function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== "ESRCH"
  }
}
