import { hostname } from "node:os"
import { isAlive, processStart } from "@toolwright/host/process-life"

/** How this process signs what it holds in a log: machine, process and its start. */
export function holderHere(): string {
  return [hostname(), process.pid, processStart(process.pid) ?? ""].join("/")
}

/**
 * How long whoever holds a run on another machine may be silent, in milliseconds; they are heard of every ten seconds.
 */
export const SILENCE_MS = 60_000

/**
 * Whether whoever holds a run still does: of this machine their process tells, of others when they were last heard of.
 */
export function isHeld(
  { holder, heartbeat }: { holder: string | null; heartbeat: number | null },
  now: number,
): boolean {
  if (holder === null || heartbeat === null) return false
  const [machine, number, start] = holder.split("/")
  const pid = Number(number)
  if (machine !== hostname() || !Number.isSafeInteger(pid) || pid <= 0) return now - heartbeat < SILENCE_MS
  return isAlive(pid) && (processStart(pid) ?? "") === start
}
