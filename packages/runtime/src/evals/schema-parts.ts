import type { JsonSchema } from "@toolwright/toolbox"

export const text = (most: number): JsonSchema => ({ type: "string", minLength: 1, maxLength: most })

export const closed = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
})
