import { configurationSchema, DEFAULT_BACKEND, hasModel, shownSettings } from "@toolwright/runtime/configuration"
import type { Command, Invocation } from "../command.ts"
import { EXIT } from "../command.ts"
import { parseOptions, type OptionDeclarations } from "../options.ts"
import { oneLine } from "../render/short.ts"
import { neutralise } from "../render/neutralise.ts"
import { CONFIGURATION_OPTIONS, configurationFor } from "../settings-options.ts"
import { demandLines } from "../trust.ts"
import { usageText } from "../usage.ts"

const OPTIONS = {
  json: { type: "boolean", description: "Print an object of values and sources" },
  schema: { type: "boolean", description: "Print the JSON Schema of toolwright.yaml, for editors" },
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDeclarations

export const configCommand: Command = {
  name: "config",
  summary: "Show the configuration in force, and where each value comes from",
  usage: usageText({
    synopsis: ["config [options]"],
    description:
      "Settings come from toolwright.yaml (in the current folder or one above it), then environment variables, " +
      "then options; later ones win. What of a file waits for 'toolwright trust' is shown apart. Secrets are " +
      "masked. 'toolwright help settings' lists them all.",
    options: OPTIONS,
    examples: [
      { line: "toolwright config", does: "What would be used here" },
      { line: "toolwright config --schema > toolwright.schema.json", does: "A schema for the editor" },
    ],
  }),
  async run(invocation: Invocation) {
    const { values } = parseOptions(invocation.args, OPTIONS, { max: 0 })
    if (values.schema === true) {
      invocation.stdout.write(`${JSON.stringify(configurationSchema(), null, 2)}\n`)
      return EXIT.success
    }
    const { configuration, sources, file, trust, waiting } = await configurationFor(invocation, values, { ask: false })
    const shown = shownSettings(configuration, invocation.env)
    const set = [...sources].map(([key, source]) => ({ key, source, value: shown(key, valueAt(configuration, key)) }))
    const rows = hasModel(configuration)
      ? set
      : [{ key: "model.backend", source: "default, as no model is configured", value: DEFAULT_BACKEND }, ...set]
    if (values.json === true) {
      const settings = Object.fromEntries(rows.map(({ key, value, source }) => [key, { value, source }]))
      const state = trust === undefined ? {} : { trust, waiting }
      invocation.stdout.write(`${JSON.stringify({ file: file ?? null, ...state, settings }, null, 2)}\n`)
      return EXIT.success
    }
    // The first line names the file.
    const short = (source: string): string => (source === `file ${file}` ? "file" : source)
    const texts = rows.map(({ key, value, source }) => [key, neutralise(textOf(value)), short(source)] as const)
    const width = (column: 0 | 1) => Math.min(48, Math.max(...texts.map((row) => row[column].length)))
    invocation.stdout.write(`# ${file ?? "no toolwright.yaml found"}\n`)
    for (const [key, value, source] of texts)
      invocation.stdout.write(`${key.padEnd(width(0))}  ${value.padEnd(width(1))}  ${source}\n`)
    if (waiting.length > 0) {
      invocation.stdout.write("\n# In the file, and waiting for 'toolwright trust':\n")
      for (const { key, demands } of waiting) {
        invocation.stdout.write(`${key}\n${demandLines(demands).join("\n")}\n`)
      }
    }
    return EXIT.success
  },
}

function valueAt(configuration: object, key: string): unknown {
  return key
    .split(".")
    .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], configuration)
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(", ")
  return typeof value === "object" && value !== null ? oneLine(JSON.stringify(value), 90) : String(value)
}
