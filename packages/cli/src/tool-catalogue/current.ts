import { tmpdir } from "node:os"
import { firstSentence } from "../tool-arguments/show.ts"

/** The catalogue as the tools themselves have it. */
export async function currentCatalogue() {
  const [{ builtinTools }, { defaultConfiguration }] = await Promise.all([
    import("@toolwright/runtime/tools"),
    import("@toolwright/runtime/configuration"),
  ])
  return builtinTools(defaultConfiguration(), tmpdir()).map(({ name, category, description, capabilities = [] }) => ({
    name,
    category,
    summary: firstSentence(description),
    capabilities: [...capabilities],
  }))
}
