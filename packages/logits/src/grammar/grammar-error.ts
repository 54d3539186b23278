import { ToolwrightError } from "@toolwright/toolbox"

/** A grammar that cannot be made or run. */
export function grammarError(message: string, options: { code?: string; hint?: string } = {}): ToolwrightError {
  return new ToolwrightError(
    options.code ?? "INVALID_GRAMMAR",
    message,
    options.hint === undefined ? {} : { hint: options.hint },
  )
}
