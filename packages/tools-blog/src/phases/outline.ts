import type { JsonObject, JsonSchema } from "@toolwright/toolbox"
import { cleanLine, cleanText } from "@toolwright/host/net"

/** A post's plan. */
export interface Outline {
  title: string
  sections: { heading: string; points: string[] }[]
}

export const OUTLINE: JsonSchema = {
  type: "object",
  properties: {
    title: { type: "string", minLength: 1 },
    sections: {
      type: "array",
      minItems: 1,
      maxItems: 40,
      items: {
        type: "object",
        properties: { heading: { type: "string", minLength: 1 }, points: { type: "array", items: { type: "string" } } },
        required: ["heading"],
      },
    },
  },
  required: ["title", "sections"],
}

/** An outline as Markdown: the title, a heading for each section, its points as a list. */
export function outlineToMarkdown({ title, sections }: Outline): string {
  const parts = sections.map(({ heading, points }) =>
    [`## ${heading}`, ...points.map((point) => `- ${point}`)].join("\n"),
  )
  return [`# ${title}`, ...parts].join("\n\n")
}

/** Reads an outline from Markdown; `undefined` when it has no section (`## …`, or numbered or listed lines). */
export function outlineFromMarkdown(markdown: string): Outline | undefined {
  const lines = cleanText(markdown)
    .split("\n")
    .map((line) => line.trimEnd())
  const hasHeadings = lines.some((line) => /^##\s/.test(line))
  const outline: Outline = { title: "", sections: [] }
  for (const line of lines) {
    const title = /^#\s+(.+)/.exec(line)?.[1]
    const heading = hasHeadings ? /^##\s+(.+)/.exec(line)?.[1] : /^(?:\d+[.)]|[-*])\s+(.+)/.exec(line)?.[1]
    const point = /^(?:\s*(?:[-*+]|\d+[.)])\s+|#{3,}\s+)(.+)/.exec(line)?.[1]
    if (title !== undefined && outline.title === "") outline.title = cleanLine(title)
    else if (heading !== undefined)
      outline.sections.push({ heading: cleanLine(heading.replace(/^\*\*(.+)\*\*$/, "$1")), points: [] })
    else if (point !== undefined) outline.sections.at(-1)?.points.push(cleanLine(point, 500))
  }
  return outline.sections.length === 0 ? undefined : outline
}

/** An outline from JSON that fits {@link OUTLINE}. */
export function outlineFromJson(value: JsonObject): Outline {
  const sections = value.sections as { heading: string; points?: string[] }[]
  return {
    title: cleanLine(String(value.title)),
    sections: sections.map(({ heading, points = [] }) => ({
      heading: cleanLine(heading),
      points: points.map((point) => cleanLine(point, 500)),
    })),
  }
}
