import { failure, type Middleware } from "@toolwright/toolbox"
import type { Ledger } from "./ledger.ts"

/** Refuses to hand work in while validation has not passed since the last change. */
export function commitGuard(ledger: Ledger): Middleware {
  return async (call, next) => {
    if (!ledger.isCommit(call.tool.name, call.args)) return next()
    const unchecked = ledger.uncheckedReason()
    if (unchecked === undefined) return next()
    return failure({
      code: "COMMIT_REFUSED",
      message: `Nothing was committed: ${unchecked.reason}.`,
      hint: "Run the validation, put right what it reports, run it again, and then commit.",
      ...(unchecked.report === undefined ? {} : { details: { report: unchecked.report } }),
    })
  }
}
