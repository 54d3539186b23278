import { failure, type Middleware } from "@toolwright/toolbox"
import type { Ledger } from "./ledger.ts"
import { readShellCommit } from "./shell-commit.ts"

/** Refuses to hand work in while validation has not passed since the last change. */
export function commitGuard(ledger: Ledger): Middleware {
  return async (call, next) => {
    if (!ledger.isCommit(call.tool.name, call.args)) return next()
    if (typeof call.args.command === "string" && readShellCommit(call.args.command).alsoChanges) {
      return failure({
        code: "COMMIT_REFUSED",
        message:
          "Nothing was run: this command commits, and beside that does something that may change what was checked.",
        hint: "Make the change first, run the validation, and commit in a call of its own; git add may stand before it.",
      })
    }
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
