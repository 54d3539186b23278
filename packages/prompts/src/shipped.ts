import type { Prompt, PromptEngine } from "./model.ts"
import shipped from "./shipped.json" with { type: "json" }

/**
 * The prompts that come with this package, as `npm run generate` reads them from the files of its folder `prompts`:
 * reading them as YAML at every start of a server took a tenth of it.
 */
export function shippedPrompts(): Prompt[] {
  return shipped.map((prompt) => ({ ...prompt, engine: prompt.engine as PromptEngine }))
}
