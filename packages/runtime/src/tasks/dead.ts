import { hostname } from "node:os"
import { isAlive } from "@toolwright/host/process-life"
import type { TaskQueue } from "@toolwright/store"

/**
 * Takes the tasks of workers of this machine whose process is not there any more: whoever closed a terminal and comes
 * back need not wait until such a worker has been silent for long enough.
 */
export async function releaseDead(queue: TaskQueue): Promise<void> {
  for (const holder of await queue.holders()) {
    const [machine, process] = holder.split("/")
    if (machine === hostname() && !mayLive(Number(process))) await queue.releaseFrom(holder)
  }
}

/** Whatever is no process of ours to judge is taken to live. */
function mayLive(pid: number): boolean {
  return !Number.isSafeInteger(pid) || pid <= 0 || isAlive(pid)
}
