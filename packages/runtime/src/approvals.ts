import { approvalsIn, taskQueue, type ApprovalRow, type ApprovalState } from "@toolwright/store"
import { ToolwrightError } from "@toolwright/toolbox"
import type { LogAccess } from "./assembly/log.ts"

/** Who answers a question, and why. */
export interface GivenAnswer {
  /** Said to the model, and kept. */
  note?: string
  /** Who says so, for the record; `program` unless given. */
  by?: string
}

/** What runs ask that wait for a person (`permissions.approvals: "wait"`), and the answers. */
export interface ApprovalAccess {
  /** Newest first: those that wait for an answer, unless another state is asked for. */
  list(filter?: { state?: ApprovalState | "all"; run?: string }): Promise<ApprovalRow[]>
  /**
   * Allows the call, once, with these arguments. The run then goes on with `toolwright.resume(row.run)`; one of a task
   * is gone on with by a worker.
   *
   * @throws ToolwrightError `UNKNOWN_APPROVAL`, `APPROVAL_CLOSED`
   */
  allow(id: string, answer?: GivenAnswer): Promise<ApprovalRow>
  /** Refuses the call; the run goes on as after `allow`, and the model is told why. @throws as `allow` */
  deny(id: string, answer?: GivenAnswer): Promise<ApprovalRow>
}

export function approvalAccess(log: LogAccess): ApprovalAccess {
  const answer = async (
    id: string,
    allow: boolean,
    { note, by = "program" }: GivenAnswer = {},
  ): Promise<ApprovalRow> => {
    const database = (await log.look())?.database
    if (database === undefined)
      throw new ToolwrightError("UNKNOWN_APPROVAL", `There is no question '${id}'.`, {
        hint: "Nothing was run here yet.",
      })
    const given = { allow, by, time: Date.now(), ...(note === undefined ? {} : { note }) }
    const row = await approvalsIn(database).answer(id, given)
    if (row.task !== null) await taskQueue(database).awaken(row.task)
    return row
  }
  return {
    async list({ state = "pending", run } = {}) {
      const database = (await log.look())?.database
      if (database === undefined) return []
      const filter = { ...(state === "all" ? {} : { state }), ...(run === undefined ? {} : { run }) }
      return approvalsIn(database).list(filter)
    },
    allow: (id, given) => answer(id, true, given),
    deny: (id, given) => answer(id, false, given),
  }
}
