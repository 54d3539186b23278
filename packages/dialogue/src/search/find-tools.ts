import { nearest, type ToolDefinition } from "@toolwright/toolbox"

/**
 * The tools that a query is about, best first and always in the same order: those that it names, then those whose names
 * and descriptions share its words, then those with a name that it may have misspelt.
 */
export function findTools(tools: readonly ToolDefinition[], query: string, most: number): ToolDefinition[] {
  const words = wordsIn(query)
  const scored = tools
    .map((tool) => ({ tool, score: scoreOf(tool, query, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
  const best = scored[0]?.score ?? 0
  // Beside a tool that is named outright, one that shares a word with it is only a burden.
  const found = scored.filter(({ score }) => score * 4 >= best).map(({ tool }) => tool)
  if (found.length > 0) return found.slice(0, most)
  const close = nearest(
    query,
    tools.map(({ name }) => name),
    most,
  )
  return close.flatMap((name) => tools.find((tool) => tool.name === name) ?? [])
}

function scoreOf(tool: ToolDefinition, query: string, words: ReadonlySet<string>): number {
  const names = wordsIn(tool.name)
  const about = wordsIn(`${tool.description} ${tool.tags?.join(" ") ?? ""} ${tool.category}`)
  const asked = new Set(query.toLowerCase().match(/[\w.-]+/g))
  const isNamed = [tool.name, ...(tool.aliases?.names ?? [])].some((name) => asked.has(name.toLowerCase()))
  let score = isNamed ? 100 : 0
  for (const word of words) score += names.has(word) ? 6 : about.has(word) ? 2 : 0
  return score
}

/** Words without their endings, and without those that every description has. */
function wordsIn(text: string): ReadonlySet<string> {
  const words =
    text
      .toLowerCase()
      .slice(0, 2000)
      .match(/[\p{L}\p{N}]+/gu) ?? []
  return new Set(words.filter((word) => word.length > 1 && !PLAIN.has(word)).map(stem))
}

const PLAIN: ReadonlySet<string> = new Set(
  (
    "a an and are as at be by for from how i in into is it its me my of on or that the this to tool tools use want " +
    "what which with you"
  ).split(" "),
)

function stem(word: string): string {
  return word.length > 4 ? word.replace(/(?:ies|ing|es|ed|s|e|y)$/, "") : word.replace(/s$/, "")
}
