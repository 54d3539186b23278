import { defineTool, success, type JsonObject, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"
import { isFailure, MATERIAL_RULE, quoted, writeJson, type PhaseHost } from "./generator.ts"

/** What a request for a post asks for. */
export const ANALYSIS: JsonSchema = {
  type: "object",
  properties: {
    topic: { type: "string", minLength: 1, description: "What the post is about" },
    title: { type: "string", description: "A working title" },
    audience: { type: "string", description: "Who it is for" },
    tone: { type: "string" },
    length_words: { type: "integer", minimum: 20, maximum: 20000, description: "How long it should be" },
    key_points: { type: "array", items: { type: "string" }, description: "What it must say" },
    research: {
      type: "array",
      items: { type: "string" },
      description: "Questions that need research; empty when none do",
    },
    newsletter: { type: "boolean", description: "Whether a newsletter was asked for" },
    social: { type: "boolean", description: "Whether posts for social networks were asked for" },
    publish: { type: "boolean", description: "Whether publishing was asked for" },
  },
  required: ["topic", "key_points"],
}

/** The tool that works out what a request for a post asks for. */
export function createAnalyzePromptTool(host: PhaseHost): ToolDefinition {
  const isSelf = host.generator === undefined
  return defineTool({
    name: "analyze_prompt",
    sets: ["blog-phases", "blog-analysis"],
    title: "Analyse a request",
    description:
      "Works out what a request for a blog post asks for: topic, audience, key points, length, and whether " +
      "research, a newsletter or publishing are wanted.",
    category: "orchestration",
    optionality: "optional",
    tags: ["blog"],
    usageHint:
      "Use when: a post of several sections was asked for. Don't use when: a short note was asked for (write it " +
      "and call assemble_content with content).",
    parameters: {
      type: "object",
      properties: {
        prompt: { type: "string", minLength: 1, maxLength: 20_000, description: "The request, as it was made" },
        analysis: {
          ...ANALYSIS,
          description: isSelf ? "Your own analysis" : "Your own analysis, instead of a generated one",
        },
      },
      required: isSelf ? ["prompt", "analysis"] : ["prompt"],
      additionalProperties: false,
    },
    outputSchema: ANALYSIS,
    examples: [
      {
        description: "A request",
        input: {
          prompt: "A post on Go contexts for beginners, about 600 words",
          ...(isSelf ? { analysis: { topic: "Go contexts", key_points: ["deadlines", "cancellation"] } } : {}),
        },
      },
    ],
    produces: ["analysis"],
    effects: { readOnly: false, idempotent: true },
    async execute(args, context) {
      const request = String(args.prompt)
      const given = args.analysis as JsonObject | undefined
      const prompt =
        `Analyse this request for a blog post.\n${quoted("the request", request, 20_000)}\nSay what is asked for ` +
        "and nothing else. newsletter, social and publish are true only when the request asks for them."
      const analysis =
        given ??
        (await writeJson(
          host,
          `${prompt}\n${MATERIAL_RULE}`,
          ANALYSIS,
          context,
          'Pass it: {"prompt": "…", "analysis": {"topic": "…", "key_points": ["…"]}}',
        ))
      if (isFailure(analysis)) return analysis
      host.artifacts.set(context, "analysis", analysis)
      return success({ data: analysis, metadata: { artifact: "analysis" } })
    },
  })
}
