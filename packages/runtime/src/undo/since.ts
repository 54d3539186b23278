import type { ChangeHistory } from "@toolwright/host/undo"
import type { RunLog, RunRow } from "@toolwright/store"
import { undoOnRecord, type RecordedUndo, type UndoRecord } from "./recorded-undo.ts"

/** What lay otherwise at an event of a run, and lies so again. */
export type TakenBack = Pick<RecordedUndo, "restored" | "refused">

/**
 * Takes back what the calls of a run changed after one of its events, the last first: also what those changed whom they
 * asked. A path that others have changed since stays as it is, and is named.
 *
 * @param seq the last event whose changes stay
 */
export async function takeBackSince(
  history: ChangeHistory,
  { log, run, seq }: { log: RunLog; run: RunRow; seq: number },
  record: UndoRecord,
): Promise<TakenBack> {
  const later = (await log.events(run.id)).flatMap(({ seq: at, type, body }) =>
    at > seq && type === "tool-start" && body !== undefined ? [(JSON.parse(body) as { callId: string }).callId] : [],
  )
  const items = await history.list()
  const asked = (await log.list({ askedBy: run.id, limit: 1_000 })).filter(({ asked_call }) =>
    later.includes(asked_call!),
  )
  const wanted = items.flatMap((item) => {
    if (item.kind !== "run") return []
    if (asked.some(({ id }) => id === item.id)) return item.entries
    return item.id === run.id ? item.entries.filter(({ callId }) => later.includes(callId!)) : []
  })
  const [restored, refused]: [Set<string>, TakenBack["refused"][number][]] = [new Set(), []]
  for (const { id } of wanted.toSorted((a, b) => lastChange(b) - lastChange(a))) {
    const { restorations, refused: staying } = await history.plan(id)
    if (restorations.length === 0 && staying.length === 0) continue
    const done = await undoOnRecord(history, id, record)
    for (const path of done.restored) restored.add(path)
    refused.push(...done.refused)
  }
  return { restored: [...restored], refused }
}

const lastChange = ({ changes }: { changes: readonly { n: number }[] }): number => changes.at(-1)?.n ?? 0
