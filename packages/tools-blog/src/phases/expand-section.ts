import {
  defineTool,
  failure,
  success,
  type JsonObject,
  type ToolDefinition,
  type JsonSchema,
  type ToolContext,
  type ToolResult,
} from "@toolwright/toolbox"
import { cleanText } from "@toolwright/host/net"
import { missingArtifact, type Finding, type RunOf } from "@toolwright/host"
import { isFailure, MATERIAL_RULE, quoted, wordCount, writeText, type PhaseHost } from "./generator.ts"
import { outlineToMarkdown, type Outline } from "./outline.ts"

/** Sections that are written, by their number from 1. */
export type Sections = Record<number, { heading: string; content: string }>

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    section: { type: "integer" },
    heading: { type: "string" },
    content: { type: "string" },
    words: { type: "integer" },
    remaining: {
      type: "array",
      items: { type: "string" },
      description: "Headings of the sections that are not written yet",
    },
  },
  required: ["section", "heading", "content", "words", "remaining"],
}

/** The tool that writes one section of a post. */
export function createExpandSectionTool(host: PhaseHost): ToolDefinition {
  const isSelf = host.generator === undefined
  return defineTool({
    name: "expand_section",
    sets: ["blog-phases", "blog-writing"],
    title: "Write a section",
    description:
      "Writes one section of the outlined post, by its number or heading. Each section is written alone; call it " +
      "once for each.",
    category: "orchestration",
    optionality: "optional",
    tags: ["blog"],
    usageHint:
      "Use when: there is an outline and a section of it is not written, or must be written again. Don't use " +
      "when: there is no outline (call generate_outline).",
    parameters: {
      type: "object",
      properties: {
        section: { type: ["integer", "string"], description: "Its number from 1, or its heading" },
        content: {
          type: "string",
          minLength: 1,
          maxLength: 100_000,
          description:
            `${isSelf ? "The section's text" : "Your own text of the section, instead of a generated one"}, in ` +
            "Markdown without its heading",
        },
        instructions: { type: "string", maxLength: 5000, description: "What to heed when writing it" },
      },
      required: isSelf ? ["section", "content"] : ["section"],
      additionalProperties: false,
    },
    outputSchema: OUTPUT,
    examples: [
      {
        description: "The first section",
        input: { section: 1, ...(isSelf ? { content: "A deadline ends work that takes too long." } : {}) },
      },
    ],
    consumes: ["outline"],
    produces: ["sections"],
    effects: { readOnly: false },
    execute: (args, context) => runExpandSection(host, args, context),
  })
}

async function runExpandSection(host: PhaseHost, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  const outline = host.artifacts.get(context, "outline") as Outline | undefined
  if (outline === undefined) return missingArtifact("outline", "Writing a section", "Call generate_outline first.")
  const index = findSection(outline, args.section)
  const section = outline.sections[index - 1]
  if (section === undefined) {
    return failure({
      code: "UNKNOWN_SECTION",
      message: `The outline has no section ${JSON.stringify(args.section)}.`,
      hint: `Its sections are: ${outline.sections.map(({ heading }, at) => `${at + 1} ${heading}`).join("; ")}`,
    })
  }
  const written =
    typeof args.content === "string"
      ? cleanText(args.content).trim()
      : await writeText(
          host,
          promptFor(host, outline, index, args.instructions, context),
          context,
          `Pass it: {"section": ${index}, "content": "…"}`,
        )
  if (isFailure(written)) return written
  const content = withoutHeading(written, section.heading)
  const sections = {
    ...(host.artifacts.get(context, "sections") as Sections | undefined),
    [index]: { heading: section.heading, content },
  }
  host.artifacts.set(context, "sections", sections)
  const remaining = outline.sections.filter((_, at) => sections[at + 1] === undefined).map(({ heading }) => heading)
  const next =
    remaining.length === 0
      ? "Every section is written; call assemble_content."
      : `Not written yet: ${remaining.join("; ")}`
  return success({
    output: `## ${section.heading}\n\n${content}\n\n${next}`,
    data: { section: index, heading: section.heading, content, words: wordCount(content), remaining },
    metadata: { artifact: "sections" },
  })
}

function findSection({ sections }: Outline, wanted: unknown): number {
  if (typeof wanted === "number") return wanted
  const text = String(wanted)
    .trim()
    .replace(/^#+\s*/, "")
    .toLowerCase()
  const byHeading = sections.findIndex(({ heading }) => heading.toLowerCase() === text)
  return byHeading >= 0 ? byHeading + 1 : /^\d+$/.test(text) ? Number(text) : 0
}

function promptFor(host: PhaseHost, outline: Outline, index: number, instructions: unknown, run: RunOf): string {
  const analysis = host.artifacts.get(run, "analysis") as JsonObject | undefined
  const research = (host.artifacts.get(run, "research") as Finding[] | undefined) ?? []
  const { heading, points } = outline.sections[index - 1] as Outline["sections"][number]
  const words =
    typeof analysis?.length_words === "number"
      ? Math.max(40, Math.round(analysis.length_words / outline.sections.length))
      : 200
  return [
    `Write the section "${heading}" of a blog post, about ${words} words of Markdown, without its heading and ` +
      "without the other sections.",
    ...(points.length === 0 ? [] : [`It makes these points: ${points.join("; ")}.`]),
    quoted("the whole outline", outlineToMarkdown(outline), 8000),
    ...(analysis === undefined ? [] : [quoted("what is asked for", JSON.stringify(analysis), 8000)]),
    ...research.map(({ tool, text }) => quoted(`research by ${tool}`, text, 4000)),
    ...(typeof instructions === "string" ? [`Heed this: ${instructions}`] : []),
    MATERIAL_RULE,
  ].join("\n")
}

/** Without a heading at the beginning that repeats the section's own. */
function withoutHeading(text: string, heading: string): string {
  const first = /^#{1,6}\s+(.+)\n*/.exec(text)
  return first !== null && first[1]?.trim().toLowerCase() === heading.toLowerCase()
    ? text.slice(first[0].length).trim()
    : text
}
