import { SERVICE, tagsOf } from "../options.ts"
import type { JsonObject, ToolDefinition } from "@toolwright/toolbox"
import { inlineSchema } from "./inline.ts"

const PROBLEMS: Record<string, string> = {
  400: "The body is no JSON",
  401: "A bearer token is missing or wrong",
  403: "Host or origin is not allowed",
  404: "There is no such tool",
  413: "The body is too large",
  415: "The body is not JSON",
  429: "Too many calls are running",
  503: "The tool's source is not available",
  504: "The tool did not answer in time",
}

/**
 * The OpenAPI 3.1 document of the tools alone: one path for each, `operationId` the tool's name, every reference
 * written out, so that hosts which make a tool of every operation can import it as it is. Deterministic: the same tools
 * give the same bytes.
 *
 * @param options.tags only tools with one of these tags
 */
export function openApiDocument(
  tools: readonly ToolDefinition[],
  options: { url: string; secured: boolean; tags?: readonly string[] },
): JsonObject {
  const chosen =
    options.tags === undefined ? tools : tools.filter((tool) => tagsOf(tool).some((tag) => options.tags!.includes(tag)))
  return {
    openapi: "3.1.0",
    info: {
      title: SERVICE.title,
      description: SERVICE.description,
      version: SERVICE.version,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: options.url }],
    tags: [...new Set(chosen.flatMap(tagsOf))].toSorted().map((name) => ({ name })),
    paths: Object.fromEntries(
      chosen.map((tool) => [`/tools/${encodeURIComponent(tool.name)}`, { post: operation(tool) }]),
    ),
    components: {
      schemas: { Problem: PROBLEM },
      ...(options.secured ? { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } } : {}),
    },
    ...(options.secured ? { security: [{ bearer: [] }] } : { security: [] }),
  }
}

function operation(tool: ToolDefinition): JsonObject {
  const schema = inlineSchema(tool.parameters)
  const hasArguments = Object.keys(schema.properties ?? {}).length > 0
  return {
    operationId: tool.name,
    summary: tool.title ?? tool.name.replaceAll("_", " "),
    description: tool.description,
    tags: tagsOf(tool),
    ...(tool.effects === undefined
      ? {}
      : {
          "x-effects": {
            readOnly: tool.effects.readOnly ?? false,
            destructive: tool.effects.destructive ?? false,
            idempotent: tool.effects.idempotent ?? false,
            network: tool.effects.network ?? false,
          },
        }),
    ...(hasArguments
      ? { requestBody: { required: (schema.required?.length ?? 0) > 0, content: { "application/json": { schema } } } }
      : {}),
    responses: {
      200: {
        description: "What the tool answered, also when it failed",
        content: { "application/json": { schema: envelope(tool) } },
      },
      ...Object.fromEntries(
        Object.entries(PROBLEMS).map(([status, description]) => [
          status,
          {
            description,
            content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
          },
        ]),
      ),
    },
  }
}

function envelope(tool: ToolDefinition): JsonObject {
  return {
    type: "object",
    properties: {
      success: { type: "boolean" },
      result:
        tool.outputSchema === undefined
          ? {}
          : { anyOf: [inlineSchema(tool.outputSchema), { type: "null" }, { type: "string" }] },
      error: { type: ["string", "null"] },
      metadata: { type: "object" },
      execution_time_ms: { type: "number" },
    },
    required: ["success", "result", "error", "metadata", "execution_time_ms"],
  }
}

const PROBLEM = {
  type: "object",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    success: { const: false },
    result: {},
    error: {
      type: "object",
      properties: {
        code: { type: "string" },
        message: { type: "string" },
        hint: { type: "string" },
        details: { type: "object" },
      },
      required: ["code", "message"],
    },
    metadata: { type: "object" },
    execution_time_ms: { type: "number" },
  },
  required: ["type", "title", "status", "detail", "success", "error"],
}
