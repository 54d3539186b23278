import { holderHere, newRunId } from "@toolwright/agents"
import type { LogEvent, RunLog, RunRow } from "@toolwright/store"
import { success, ToolwrightError } from "@toolwright/toolbox"
import type { TakenBack } from "./undo/since.ts"

/** Where a run branches off another, and what is to be otherwise there. */
export interface BranchOptions {
  /** The number of an event: what came up to it is shared, back to the last round that had ended. */
  at: number
  /** In place of the text of the result that event `at` holds: the run goes on from there. */
  edit?: string
  /**
   * Leaves files as they lie there now; what the other run changed after that event is taken back unless this is true.
   */
  keepFiles?: boolean
  /** Is told what was taken back, and what could not be. */
  onTakenBack?(taken: TakenBack): void
  /** Where it was asked for, for the record; `library` unless given. */
  surface?: string
}

/**
 * Begins a run that shares the events of another up to one of them: what happened in them is not done again. It waits
 * for whoever goes on with it; another model may.
 *
 * @param run its id, its beginning, or `latest`
 * @returns the id of the branch
 * @throws ToolwrightError `UNKNOWN_RUN`, `UNKNOWN_EVENT`, `NOTHING_TO_RESUME`
 */
export async function beginBranch(
  log: RunLog,
  run: string,
  { at, edit, surface = "library" }: BranchOptions,
  { redact = (text) => text, there = "" }: { redact?: (text: string) => string; there?: string } = {},
): Promise<string> {
  const row = await log.find(run)
  if (row.agent === "")
    throw new ToolwrightError("NOTHING_TO_RESUME", `${row.id} is a single call: nothing goes on from it.`)
  const events = await log.events(row.id, { upTo: at })
  const last = events.at(-1)
  if (last?.seq !== at)
    throw new ToolwrightError("UNKNOWN_EVENT", `The run ${row.id} has no event ${at}.`, {
      hint: `Its last one is ${last?.seq ?? 0}; 'toolwright runs show ${row.id}${there} --json' numbers them.`,
    })
  const [shared, own] =
    edit === undefined ? [roundBefore(row, events, at, there), []] : [at - 1, [edited(row, last, edit)]]
  const { agent, model, title, workspace } = row
  const time = Date.now()
  const id = newRunId()
  const writer = await log.begin({
    id,
    agent,
    model,
    title,
    surface,
    holder: holderHere(),
    time,
    ...(workspace === null ? {} : { workspace }),
    parent: { run: row.id, seq: shared },
  })
  await writer.release(own.map((body) => ({ type: "tool-end", body: redact(body), time })))
  return id
}

/** The end of the last round that had ended by an event. */
function roundBefore({ id }: RunRow, events: readonly LogEvent[], at: number, there: string): number {
  const round = events.findLast(({ type }) => type === "round-end")
  if (round !== undefined) return round.seq
  throw new ToolwrightError("NOTHING_TO_RESUME", `No round of ${id} had ended by event ${at}.`, {
    hint: `Name a later event ('toolwright runs show ${id}${there}' numbers them), or start the task anew.`,
  })
}

/** The result of a call as somebody wants it to have been. */
function edited({ id }: RunRow, { seq, type, body }: LogEvent, text: string): string {
  if (type !== "tool-end" || body === undefined)
    throw new ToolwrightError(
      "NOTHING_TO_RESUME",
      `Event ${seq} of ${id} is no result of a call, so it cannot be edited.`,
      {
        hint: "Name an event of the type tool-end.",
      },
    )
  const { callId, name } = JSON.parse(body) as { callId: string; name: string }
  return JSON.stringify({ callId, name, result: success({ output: text, metadata: { edited: true } }) })
}
