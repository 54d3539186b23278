import type { JsonSchema } from "@toolwright/toolbox"
import type { Setting } from "./setting.ts"
import { SETTINGS } from "./settings.ts"

/** The JSON Schema of `toolwright.yaml`, for editors. */
export function configurationSchema(): JsonSchema {
  const root: JsonSchema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "toolwright.yaml",
    description: "Configuration of Toolwright",
    ...emptyObject(),
  }
  for (const setting of SETTINGS) {
    const keys = setting.key.split(".")
    const last = keys.pop()!
    let node = root
    for (const key of keys) node = node.properties![key] ??= emptyObject()
    node.properties![last] = schemaOf(setting)
  }
  return root
}

function emptyObject(): JsonSchema {
  return { type: "object", properties: {}, additionalProperties: false }
}

function schemaOf(setting: Setting): JsonSchema {
  return {
    ...(setting.type === "string-list" ? { type: "array", items: { type: "string" } } : { type: setting.type }),
    description: `${setting.description}.`,
    ...(setting.values === undefined ? {} : { enum: [...setting.values] }),
    ...(setting.minimum === undefined ? {} : { minimum: setting.minimum }),
    ...(setting.fallback === undefined ? {} : { default: setting.fallback }),
  }
}
