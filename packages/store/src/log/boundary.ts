import { channel } from "node:diagnostics_channel"

/** Where it is told that events are about to be written, and that they are on record. */
const WRITE_CHANNEL = "toolwright:log-write"

const writes = channel(WRITE_CHANNEL)

/** What is told on `toolwright:log-write`. */
interface LogWrite {
  readonly moment: "before" | "after"
  readonly run: string
  /** Of the last of the events that are written together. */
  readonly seq: number
}

/** Tells of a write of events, where somebody listens: tests end a process there. */
export function tellWrite(moment: LogWrite["moment"], run: string, seq: number): void {
  if (writes.hasSubscribers) writes.publish({ moment, run, seq } satisfies LogWrite)
}
