import {
  defineTool,
  failure,
  success,
  type JsonObject,
  type ToolContext,
  type ToolResult,
  type ToolDefinition,
  type JsonSchema,
} from "@toolwright/toolbox"
import { cleanLine, cleanText } from "@toolwright/host/net"
import { missingArtifact } from "@toolwright/host"
import type { Sections } from "./expand-section.ts"
import { wordCount, type PhaseHost } from "./generator.ts"
import type { Outline } from "./outline.ts"

const PARAMETERS: JsonSchema = {
  type: "object",
  properties: {
    title: { type: "string", minLength: 1, maxLength: 500, description: "The outline's title unless given" },
    content: {
      type: "string",
      minLength: 1,
      maxLength: 1_000_000,
      description: "The whole text in Markdown, instead of sections",
    },
    sections: {
      type: "array",
      minItems: 1,
      maxItems: 100,
      items: {
        type: "object",
        properties: { heading: { type: "string", minLength: 1 }, content: { type: "string", minLength: 1 } },
        required: ["heading", "content"],
        additionalProperties: false,
      },
      description: "Your own sections in order, instead of the ones of this run",
    },
    introduction: { type: "string", maxLength: 20_000, description: "Text before the first section" },
    closing: { type: "string", maxLength: 20_000, description: "Text after the last section, for instance links" },
  },
  additionalProperties: false,
}

/** The tool that puts a post together; it writes nothing itself. */
export function createAssembleContentTool(host: PhaseHost): ToolDefinition {
  return defineTool({
    name: "assemble_content",
    sets: ["blog-phases", "blog-writing"],
    title: "Put a post together",
    description:
      "Puts the written sections together into the finished post, in the outline's order. Also takes a whole " +
      "text that you wrote yourself, or your own sections.",
    category: "orchestration",
    optionality: "optional",
    tags: ["blog"],
    usageHint:
      "Use when: every section is written, or you wrote a short text in one piece. Don't use when: sections are " +
      "missing (call expand_section).",
    parameters: PARAMETERS,
    outputSchema: {
      type: "object",
      properties: {
        title: { type: "string" },
        content: { type: "string" },
        words: { type: "integer" },
        sections: { type: "integer" },
      },
      required: ["title", "content", "words", "sections"],
    },
    examples: [
      {
        description: "A short text in one piece",
        input: { title: "Go contexts", content: "A context carries a deadline." },
      },
    ],
    consumes: ["sections"],
    produces: ["content"],
    effects: { readOnly: false, idempotent: true },
    execute: (args, context) => assemble(host, args, context),
  })
}

function assemble(host: PhaseHost, args: JsonObject, context: ToolContext): ToolResult {
  const outline = host.artifacts.get(context, "outline") as Outline | undefined
  const whole = typeof args.content === "string" ? cleanText(args.content).trim() : undefined
  const sections =
    whole === undefined
      ? sectionsOf(args, outline, host.artifacts.get(context, "sections") as Sections | undefined)
      : []
  if (!Array.isArray(sections)) return sections
  const ownTitle = whole === undefined ? undefined : /^#\s+(.+)/.exec(whole)?.[1]
  const title = cleanLine(String(args.title ?? ownTitle ?? outline?.title ?? "Untitled"), 500)
  const parts = [
    ...(ownTitle === undefined ? [`# ${title}`] : []),
    ...(typeof args.introduction === "string" ? [cleanText(args.introduction).trim()] : []),
    ...(whole === undefined
      ? sections.map(({ heading, content }) => `## ${cleanLine(heading)}\n\n${cleanText(content).trim()}`)
      : [whole]),
    ...(typeof args.closing === "string" ? [cleanText(args.closing).trim()] : []),
  ]
  const content = `${parts.filter((part) => part !== "").join("\n\n")}\n`
  host.artifacts.set(context, "content", content)
  return success({
    output: content,
    data: { title, content, words: wordCount(content), sections: sections.length },
    metadata: { artifact: "content" },
  })
}

function sectionsOf(args: JsonObject, outline: Outline | undefined, written: Sections | undefined) {
  if (Array.isArray(args.sections)) return args.sections as { heading: string; content: string }[]
  const ready = Object.entries(written ?? {}).sort(([one], [other]) => Number(one) - Number(other))
  if (ready.length === 0) {
    return missingArtifact(
      "sections",
      "Putting a post together",
      'Call expand_section for each section first, or pass the text: {"title": "…", "content": "…"}',
    )
  }
  const missing = (outline?.sections ?? []).filter((_, index) => written?.[index + 1] === undefined)
  if (missing.length > 0) {
    return failure({
      code: "MISSING_SECTIONS",
      message: `These sections are not written yet: ${missing.map(({ heading }) => heading).join("; ")}.`,
      hint: `Call expand_section for each: {"section": ${JSON.stringify(missing[0]?.heading)}}`,
      details: { missing: missing.map(({ heading }) => heading) },
    })
  }
  return ready.map(([, section]) => section)
}
