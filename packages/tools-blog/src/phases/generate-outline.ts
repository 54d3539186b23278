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
import { missingArtifact, type Finding, type RunOf } from "@toolwright/host"
import { isFailure, MATERIAL_RULE, quoted, writeJson, type PhaseHost } from "./generator.ts"
import { OUTLINE, outlineFromJson, outlineFromMarkdown, outlineToMarkdown, type Outline } from "./outline.ts"

const OUTPUT: JsonSchema = {
  type: "object",
  properties: { ...OUTLINE.properties, markdown: { type: "string" } },
  required: ["title", "sections", "markdown"],
}

/** The tool that plans a post. */
export function createGenerateOutlineTool(host: PhaseHost): ToolDefinition {
  const isSelf = host.generator === undefined
  return defineTool({
    name: "generate_outline",
    sets: ["blog-phases", "blog-outline"],
    title: "Outline a post",
    description:
      "Plans a blog post from its analysis and the research of this run: a title and sections with their points.",
    category: "orchestration",
    optionality: "optional",
    tags: ["blog"],
    usageHint:
      "Use when: a post of several sections is wanted and has been analysed. Don't use when: the text is short " +
      "enough to write in one piece.",
    parameters: {
      type: "object",
      properties: {
        outline: {
          type: "string",
          minLength: 1,
          maxLength: 50_000,
          description:
            `${isSelf ? "Your" : "Your own"} outline in Markdown: # title, ## sections, - ` +
            `points${isSelf ? "" : ", instead of a generated one"}`,
        },
        instructions: {
          type: "string",
          maxLength: 5000,
          description: "What to heed, or to change in an earlier outline",
        },
      },
      ...(isSelf ? { required: ["outline"] } : {}),
      additionalProperties: false,
    },
    outputSchema: OUTPUT,
    examples: [
      {
        description: "Plan the post",
        input: isSelf ? { outline: "# Go contexts\n\n## Deadlines\n- why\n\n## Cancellation" } : {},
      },
    ],
    consumes: ["analysis"],
    produces: ["outline"],
    effects: { readOnly: false },
    execute: (args, context) => runGenerateOutline(host, args, context),
  })
}

async function runGenerateOutline(host: PhaseHost, args: JsonObject, context: ToolContext): Promise<ToolResult> {
  const analysis = host.artifacts.get(context, "analysis") as JsonObject | undefined
  let outline: Outline | undefined
  if (typeof args.outline === "string") {
    outline = outlineFromMarkdown(args.outline)
    if (outline === undefined) {
      return failure({
        code: "INVALID_ARGUMENTS",
        message: "The outline has no sections.",
        hint: 'Write it like this: {"outline": "# Title\\n\\n## First section\\n- a point\\n\\n## Second section"}',
      })
    }
    outline.title ||= String(analysis?.title ?? analysis?.topic ?? "Untitled")
  } else {
    if (analysis === undefined)
      return missingArtifact(
        "analysis",
        "Planning a post",
        'Call analyze_prompt with the request first, or pass your own plan: {"outline": "# Title\\n\\n## Section"}',
      )
    const written = await writeJson(
      host,
      promptFor(analysis, args.instructions, host, context),
      OUTLINE,
      context,
      'Pass it: {"outline": "# Title\\n\\n## Section\\n- point"}',
    )
    if (isFailure(written)) return written
    outline = outlineFromJson(written)
  }
  host.artifacts.set(context, "outline", outline)
  host.artifacts.set(context, "sections", {})
  const markdown = outlineToMarkdown(outline)
  return success({ output: markdown, data: { ...outline, markdown }, metadata: { artifact: "outline" } })
}

function promptFor(analysis: JsonObject, instructions: unknown, host: PhaseHost, run: RunOf): string {
  const research = (host.artifacts.get(run, "research") as Finding[] | undefined) ?? []
  return [
    "Plan a blog post: a title, and sections with the points that each makes.",
    quoted("what is asked for", JSON.stringify(analysis), 10_000),
    ...research.map(({ tool, text }) => quoted(`research by ${tool}`, text, 4000)),
    ...(typeof instructions === "string" ? [`Heed this: ${instructions}`] : []),
    MATERIAL_RULE,
  ].join("\n")
}
