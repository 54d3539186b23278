import { Failure, TemplateError } from "./errors.ts"
import { globalFunctions } from "./globals.ts"
import { renderTree } from "./interpreter.ts"
import { fromData } from "./json.ts"
import type { TemplateTree } from "./nodes.ts"
import type { RenderLimits } from "./rendering.ts"

/** Bounds that no honest chat template reaches. */
export const DEFAULT_LIMITS: RenderLimits = { maxSteps: 50_000_000, maxOutput: 32_000_000, maxDepth: 200 }

/**
 * Renders a parsed template with plain data as its variables.
 *
 * @param now the clock of `strftime_now`
 * @throws TemplateError
 */
export function renderWithData(
  tree: TemplateTree,
  data: Readonly<Record<string, unknown>>,
  options: { now?: () => Date; limits?: Partial<RenderLimits> } = {},
): string {
  const variables = globalFunctions(options.now ?? (() => new Date()))
  for (const [name, value] of Object.entries(data)) {
    if (value === undefined) continue
    try {
      variables.set(name, fromData(value))
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      throw new TemplateError(thrown.code, `Variable '${name}': ${thrown.message}`, { line: 1, column: 1 })
    }
  }
  return renderTree(tree, variables, { ...DEFAULT_LIMITS, ...options.limits })
}
