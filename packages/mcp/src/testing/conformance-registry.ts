/**
 * What the protocol's conformance suite asks of a server: tools and prompts, written by the public functions of this
 * project alone.
 */
import { PromptRegistry } from "@toolwright/prompts"
import { defineTool, failure, ToolRegistry, type ToolContext } from "@toolwright/toolbox"
import { toToolResult, type McpContent } from "../import/convert.ts"

/** One red pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
/** A WAV header with no samples. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="

const image: McpContent = { type: "image", data: PNG, mimeType: "image/png" }
const CONTENT: Readonly<Record<string, McpContent[]>> = {
  test_image_content: [image],
  test_audio_content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
  test_embedded_resource: [
    {
      type: "resource",
      resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "An embedded text." },
    },
  ],
  test_multiple_content_types: [
    { type: "text", text: "Text, a picture and a resource:" },
    image,
    {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: '{"test":"data","value":123}',
      },
    },
  ],
}

export function conformanceTools(): ToolRegistry {
  const registry = new ToolRegistry()
  const add = (name: string, run: (context: ToolContext) => unknown): void =>
    registry.register(
      defineTool({
        name,
        description: `Of the conformance suite: ${name}`,
        parameters: { type: "object", properties: {} },
        execute: (_args, context) => run(context),
      }),
    )
  add("test_simple_text", () => "This is a simple text response for testing.")
  for (const [name, content] of Object.entries(CONTENT)) add(name, () => toToolResult({ content }, false))
  add("test_error_handling", () =>
    failure({ code: "TEST", message: "This tool intentionally returns an error for testing" }),
  )
  add("test_tool_with_logging", async ({ progress }) => {
    for (const message of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      progress({ message })
      await pause()
    }
    return "logged"
  })
  add("test_tool_with_progress", async ({ progress }) => {
    for (const done of [0, 50, 100]) {
      progress({ progress: done, total: 100, message: `Completed step ${done} of 100` })
      await pause()
    }
    return "done"
  })
  registry.register(
    defineTool({
      name: "json_schema_2020_12_tool",
      description: "A schema with keywords of the 2020-12 dialect",
      parameters: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        $defs: { address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } } },
        properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
        additionalProperties: false,
      },
      execute: () => "ok",
    }),
  )
  return registry
}

export function conformancePrompts(): PromptRegistry {
  const prompts = new PromptRegistry()
  const common = { tags: [] as string[], engine: "placeholder" as const }
  prompts.register({
    ...common,
    name: "test_simple_prompt",
    description: "A prompt without arguments",
    arguments: [],
    template: "This is a simple prompt for testing.",
  })
  const argument = (name: string) => ({ name, required: true, description: `Argument ${name}` })
  prompts.register({
    ...common,
    name: "test_prompt_with_arguments",
    description: "A prompt with two arguments",
    arguments: [argument("arg1"), argument("arg2")],
    template: "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'",
  })
  return prompts
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50))
}
