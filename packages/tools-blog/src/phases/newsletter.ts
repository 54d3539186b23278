import {
  defineTool,
  success,
  type ToolDefinition,
  type JsonSchema,
  type JsonObject,
  type ToolContext,
  type ToolResult,
} from "@toolwright/toolbox"
import { cleanText } from "@toolwright/host/net"
import { missingArtifact, type Finding } from "@toolwright/host"
import { isFailure, MATERIAL_RULE, quoted, wordCount, writeText, type PhaseHost } from "./generator.ts"

const OUTPUT: JsonSchema = {
  type: "object",
  properties: { newsletter: { type: "string" }, words: { type: "integer" } },
  required: ["newsletter", "words"],
}

/** The tool that writes a newsletter from what was researched. */
export function createNewsletterTool(host: PhaseHost): ToolDefinition {
  const isSelf = host.generator === undefined
  return defineTool({
    name: "newsletter",
    sets: ["blog-phases", "blog-newsletter"],
    title: "Write a newsletter",
    description:
      "Writes a newsletter in Markdown from the research of this run (recent posts, events, links) and the post, " +
      "if there is one.",
    category: "orchestration",
    optionality: "optional",
    tags: ["blog"],
    usageHint:
      "Use when: a newsletter was asked for, after rss_feed, calendar or static_links. Don't use when: nobody " +
      "asked for one.",
    parameters: {
      type: "object",
      properties: {
        newsletter: {
          type: "string",
          minLength: 1,
          maxLength: 100_000,
          description: `${isSelf ? "The newsletter's text" : "Your own text, instead of a generated one"}, in Markdown`,
        },
        research: {
          type: "string",
          minLength: 1,
          maxLength: 50_000,
          description: "What to write from, instead of the research of this run",
        },
        instructions: { type: "string", maxLength: 5000, description: "What to heed" },
      },
      ...(isSelf ? { required: ["newsletter"] } : {}),
      additionalProperties: false,
    },
    outputSchema: OUTPUT,
    examples: [
      {
        description: "From given notes",
        input: isSelf ? { newsletter: "# November\n\nTwo new posts." } : { research: "Two new posts in November." },
      },
    ],
    consumes: ["research"],
    produces: ["newsletter"],
    effects: { readOnly: false },
    execute: (args, context) => runNewsletter(host, args, context),
  })
}

async function runNewsletter(host: PhaseHost, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  let text = typeof args.newsletter === "string" ? cleanText(args.newsletter).trim() : undefined
  if (text === undefined) {
    const research =
      typeof args.research === "string"
        ? [{ tool: "the caller", text: args.research }]
        : ((host.artifacts.get(context, "research") as Finding[] | undefined) ?? [])
    if (research.length === 0)
      return missingArtifact(
        "research",
        "Writing a newsletter",
        "Call rss_feed, calendar or static_links first, or pass what to write from as research.",
      )
    const content = host.artifacts.get(context, "content")
    const prompt = [
      "Write a newsletter in Markdown: a short greeting, what is new, coming events if there are any, links. Use " +
        "only what the material says; invent no link and no date.",
      ...research.map((finding) => quoted(`research by ${finding.tool}`, finding.text, 6000)),
      ...(typeof content === "string" ? [quoted("the new post", content, 6000)] : []),
      ...(typeof args.instructions === "string" ? [`Heed this: ${args.instructions}`] : []),
      MATERIAL_RULE,
    ].join("\n")
    const written = await writeText(host, prompt, context, 'Pass it: {"newsletter": "# …"}')
    if (isFailure(written)) return written
    text = written
  }
  host.artifacts.set(context, "newsletter", text)
  return success({
    output: text,
    data: { newsletter: text, words: wordCount(text) },
    metadata: { artifact: "newsletter" },
  })
}
