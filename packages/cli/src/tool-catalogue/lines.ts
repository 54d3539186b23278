import catalogue from "./catalogue.json" with { type: "json" }

/** What a list says of a tool. */
export interface ListedTool {
  name: string
  category: string
  summary: string
  /** Where it comes from, if from elsewhere. */
  origin?: string
  /** Why it cannot run here. */
  unavailable?: string
}

/** One line for each tool, in columns. */
export function listLines(tools: readonly ListedTool[]): string[] {
  const width = Math.max(0, ...tools.map((tool) => tool.name.length))
  return tools.map(({ name, category, summary, origin, unavailable }) => {
    const from = origin === undefined ? "" : ` [${origin}]`
    const note = unavailable === undefined ? "" : ` [not available here: ${unavailable}]`
    return `${name.padEnd(width)}  ${category.padEnd(13)}  ${summary}${from}${note}`
  })
}

/** What says how to have the kits of which nothing is among the listed tools. */
export function otherKits(listed: readonly { readonly name: string }[]): string[] {
  const kits = Map.groupBy(catalogue, ({ kit }) => kit)
  return [...kits]
    .filter(([, tools]) => !tools.some(({ name }) => listed.some((tool) => tool.name === name)))
    .filter(([kit]) => kit !== "coding")
    .map(([kit, tools]) => `More: --kits ${kit} (${tools.map(({ name }) => name).join(", ")})`)
}
