import { ToolwrightError } from "@toolwright/toolbox"
import { problem } from "./problem.ts"

/** The answer, or what was thrown as a problem that says so; what is no error of ours is thrown on. */
export async function answered(answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (thrown) {
    if (!ToolwrightError.isInstance(thrown)) throw thrown
    const { code, message, hint } = thrown
    return problem({ code, message, ...(hint === undefined ? {} : { hint }) })
  }
}
