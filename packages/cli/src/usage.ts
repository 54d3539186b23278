import type { OptionDeclarations } from "./options.ts"

/** The parts of a command's help. */
export interface UsageParts {
  /** Without the leading `toolwright`, e.g. `run "<task>" [options]`; several lines when there are several forms. */
  readonly synopsis: readonly string[]
  readonly description: string
  readonly options?: OptionDeclarations
  /** Complete command lines and what each one does. */
  readonly examples: readonly { readonly line: string; readonly does: string }[]
}

/** Writes a command's help from its declared options, so that the two cannot drift apart. */
export function usageText({ synopsis, description, options = {}, examples }: UsageParts): string {
  const lines = synopsis.map((form, index) => `${index === 0 ? "Usage:" : "      "} toolwright ${form}`)
  lines.push("", description.trim())
  const rows = Object.entries(options).map(([name, option]) => {
    const short = option.short === undefined ? "    " : `-${option.short}, `
    const value = option.type === "boolean" ? "" : ` <${option.value ?? "value"}>`
    const repeat = option.multiple === true ? " (repeatable)" : ""
    return { left: `${short}--${name}${value}`, right: `${option.description}${repeat}` }
  })
  if (rows.length > 0) {
    const width = Math.max(...rows.map((row) => row.left.length))
    lines.push("", "Options:", ...rows.map((row) => `  ${row.left.padEnd(width)}  ${row.right}`))
  }
  lines.push("", "Examples:")
  for (const { line, does } of examples) lines.push(`  # ${does}`, `  ${line}`)
  return `${lines.join("\n")}\n`
}
