import { tmpdir } from "node:os"
import { firstSentence } from "../tool-arguments/show.ts"

/** The catalogue as the tools themselves have it. */
export async function currentCatalogue() {
  const { createToolwright } = await import("@toolwright/runtime")
  await using toolwright = await createToolwright({ withBuiltins: true, record: false, cwd: tmpdir() })
  return toolwright.registry.list().map(({ name, category, description, capabilities = [] }) => ({
    name,
    category,
    summary: firstSentence(description),
    capabilities: [...capabilities],
  }))
}
