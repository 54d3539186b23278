import { tmpdir } from "node:os"
import { firstSentence } from "../tool-arguments/show.ts"

/** The catalogue as the tools themselves have it: those for code, then those of each kit. */
export async function currentCatalogue() {
  const [{ builtinTools, KIT_PACKAGES }, { defaultConfiguration }] = await Promise.all([
    import("@toolwright/runtime/tools"),
    import("@toolwright/runtime/configuration"),
  ])
  const toolsOf = (kits: string[]) => builtinTools(defaultConfiguration({ builtins: { kits } }), tmpdir())
  const coding = await toolsOf([])
  const isCoding = new Set(coding.map(({ name }) => name))
  const groups = await Promise.all(
    Object.keys(KIT_PACKAGES).map(async (kit) =>
      (await toolsOf([kit])).filter(({ name }) => !isCoding.has(name)).map((tool) => ({ tool, kit })),
    ),
  )
  return [...coding.map((tool) => ({ tool, kit: "coding" })), ...groups.flat()].map(({ tool, kit }) => ({
    name: tool.name,
    kit,
    category: tool.category,
    summary: firstSentence(tool.description),
    capabilities: [...(tool.capabilities ?? [])],
  }))
}
