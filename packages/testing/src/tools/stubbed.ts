import {
  isToolResult,
  jsonText,
  success,
  ToolwrightError,
  validate,
  type JsonObject,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"

/**
 * A tool that answers what a test says instead of doing its work. Its schema stays, so calls are validated as ever; and
 * an answer that its own `output` schema forbids, which the real tool could never give, fails the test in `runAgent`.
 *
 * @param answer the result's data, a whole result (`success({…})`, `failure({…})`), or a function of the arguments that
 *   gives either
 * @example
 * const tools = [stubbed(getWeather, { celsius: 4 })]
 */
export function stubbed(tool: ToolDefinition, answer: unknown): ToolDefinition {
  const stub: ToolDefinition = {
    ...tool,
    async handler(args: JsonObject): Promise<ToolResult> {
      const value: unknown =
        typeof answer === "function" ? await (answer as (args: JsonObject) => unknown)(args) : answer
      const result = isToolResult(value) ? value : success({ data: value })
      const wrong = await wrongAnswer(tool, result)
      if (wrong !== undefined && !violations.has(stub)) violations.set(stub, wrong)
      return result
    },
  }
  return stub
}

const violations = new WeakMap<ToolDefinition, ToolwrightError>()

/** @throws ToolwrightError `STUB_WRONG_ANSWER` when one of these tools is a stub that answered what its tool cannot */
export function checkStubs(tools: readonly ToolDefinition[]): void {
  for (const tool of tools) {
    const violation = violations.get(tool)
    if (violation !== undefined) throw violation
  }
}

async function wrongAnswer(
  tool: ToolDefinition,
  { success: succeeded, data }: ToolResult,
): Promise<ToolwrightError | undefined> {
  if (!succeeded || tool.outputSchema === undefined || data === undefined) return undefined
  const errors = await validate(tool.outputSchema, data)
  if (errors.length === 0) return undefined
  const list = errors
    .map(({ instancePath, message }) => `- ${instancePath.slice(1).replaceAll("/", ".") || "the answer"} ${message}`)
    .join("\n")
  return new ToolwrightError(
    "STUB_WRONG_ANSWER",
    `The stub of '${tool.name}' answers what the tool cannot, by its output schema:\n${list}\nThe answer was: ` +
      `${jsonText(data)}`,
  )
}
