import type { Invocation } from "../command.ts"
import { listed as entry, widthOf } from "../render/room.ts"
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

/** The tools in columns; one line for each where a program reads. */
export function listLines(tools: readonly ListedTool[], world: Pick<Invocation, "stdout" | "isTTY">): string[] {
  const width = widthOf(tools.map(({ name }) => name))
  const kinds = widthOf(tools.map(({ category }) => category))
  return tools.flatMap(({ name, category, summary, origin, unavailable }) => {
    const from = origin === undefined ? "" : ` [${origin}]`
    const note = unavailable === undefined ? "" : ` [not available here: ${unavailable}]`
    const left = `${name.padEnd(width)}  ${category.padEnd(kinds)}  `
    return entry({ left, text: `${summary}${from}${note}` }, world)
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
