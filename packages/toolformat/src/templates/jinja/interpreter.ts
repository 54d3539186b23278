import { Failure, placeOf, TemplateError } from "./errors.ts"
import { Evaluator } from "./evaluator.ts"
import type { TemplateTree } from "./nodes.ts"
import { Rendering, type RenderLimits } from "./rendering.ts"
import { Scope } from "./scope.ts"
import { run } from "./statements.ts"
import type { Value } from "./values.ts"

/**
 * Renders a parsed template.
 *
 * @param variables the context: globals first, then what the caller provides
 * @throws TemplateError with the place in the template
 */
export function renderTree(tree: TemplateTree, variables: Map<string, Value>, limits: RenderLimits): string {
  const rendering = new Rendering(limits)
  try {
    run(tree.body, new Scope(new Scope(undefined, variables)), new Evaluator(rendering))
    return rendering.text
  } catch (thrown) {
    if (thrown instanceof TemplateError) throw thrown
    const place = placeOf(tree.source, rendering.at)
    if (thrown instanceof Failure) throw new TemplateError(thrown.code, thrown.message, place)
    if (thrown instanceof RangeError)
      throw new TemplateError("TEMPLATE_LIMIT", "The template nests or grows too far", place)
    throw thrown
  }
}
