import { userInfo } from "node:os"
import { Encoder, holderHere, newRunId } from "@toolwright/agents/record"
import type { ChangeHistory, DoneUndo, HistoryItem } from "@toolwright/host/undo"
import type { RunLog, RunWriter } from "@toolwright/store"
import { messageOf, type RunEvent, type RunSummary } from "@toolwright/toolbox"

/** What the taking back of changes is put on record with. */
export interface UndoRecord {
  open(): Promise<RunLog>
  /** Where it was asked for: `undo`, `http`, `library`. */
  surface: string
  /** Who takes it back; the user of this process unless given. */
  by?: string
  workspace?: string
  redact?: (text: string) => string
}

/** What was taken back, and why it is not on record where it could not be put there. */
export interface RecordedUndo extends DoneUndo {
  unrecorded?: string
}

/**
 * Takes back what a run or a call changed, and leaves a record of it: a run of its own, since the one that it is about
 * has ended. Where that cannot be written the changes are taken back all the same, and it is said.
 *
 * @throws ToolwrightError `NOTHING_TO_UNDO`, `UNKNOWN_CHANGE`, `AMBIGUOUS_CHANGE`
 */
export async function undoOnRecord(
  history: ChangeHistory,
  id: string | undefined,
  record: UndoRecord,
): Promise<RecordedUndo> {
  const { item, restorations } = await history.plan(id)
  if (restorations.length === 0) return history.undo(item.id)
  const paths = restorations.map(({ path }) => path)
  let begun: Begun
  try {
    begun = await beginRecord(item, paths, record)
  } catch (thrown) {
    return { ...(await history.undo(item.id)), unrecorded: messageOf(thrown) }
  }
  const done = await history.undo(item.id, begun.id)
  try {
    await endRecord(begun, done)
    return done
  } catch (thrown) {
    return { ...done, unrecorded: messageOf(thrown) }
  }
}

interface Begun {
  id: string
  writer: RunWriter
  encoder: Encoder
  time: number
}

async function beginRecord(
  item: HistoryItem,
  paths: string[],
  { open, surface, by = userInfo().username, workspace, redact = (text) => text }: UndoRecord,
): Promise<Begun> {
  const log = await open()
  const [id, time, of] = [newRunId(), Date.now(), runOf(item)]
  const writer = await log.begin({
    id,
    agent: "",
    model: "",
    title: `undo ${of}`,
    surface,
    holder: holderHere(),
    time,
    caller: by,
    about: of,
    ...(workspace === undefined ? {} : { workspace }),
  })
  const encoder = new Encoder(writer, redact, {})
  await writer.append([eventOf(encoder, { type: "undo-start", of, by, paths }, time)])
  return { id, writer, encoder, time }
}

/** The run, or the call's own record, that made the changes. */
function runOf({ kind, id, entries: [first] }: HistoryItem): string {
  return kind === "run" ? id : (first?.runId ?? first?.callId ?? id)
}

async function endRecord({ id, writer, encoder, time }: Begun, { restored, refused }: DoneUndo): Promise<void> {
  const now = Date.now()
  const success = refused.length === 0
  const took = now - time
  const summary: RunSummary = {
    runId: id,
    outcome: success ? "completed" : "completed-with-failures",
    success,
    message: refused.map(({ path, reason }) => `${path} stays: ${reason}`).join("; "),
    rounds: 0,
    calls: 0,
    failedCalls: 0,
    correctedFailures: 0,
    inputTokens: 0,
    outputTokens: 0,
    modifiedFiles: [...restored],
    times: { totalMs: took, modelMs: 0, toolMs: took, overheadMs: 0 },
  }
  const end: RunEvent = { type: "undo-end", restored: [...restored], refused: [...refused] }
  await writer.end([eventOf(encoder, end, now), eventOf(encoder, { type: "run-end", summary }, now)], {
    outcome: summary.outcome,
    summary: encoder.text(summary),
    time: now,
  })
}

function eventOf(encoder: Encoder, { type, ...rest }: RunEvent, time: number) {
  return { type, body: encoder.text(rest), time }
}
