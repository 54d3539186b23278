import type { OptionDeclaration, OptionDeclarations } from "./options.ts"

/** The parts of a command's help. */
export interface UsageParts {
  /** Without the leading `toolwright`, e.g. `run "<task>" [options]`; several lines when there are several forms. */
  readonly synopsis: readonly string[]
  /** What it does, in two or three lines; what there is to know beside it belongs into `Command.details`. */
  readonly description: string
  readonly options?: OptionDeclarations
  /** Complete command lines and what each one does. */
  readonly examples: readonly { readonly line: string; readonly does: string }[]
}

/** Characters of a line, and lines of a screen, that a command's help keeps to. */
export const SCREEN = { columns: 100, lines: 24 } as const

/**
 * Writes a command's help from its declared options, so that the two cannot drift apart. Options that many commands
 * have are not among them: `toolwright help options` lists these once.
 */
export function usageText({ synopsis, description, options = {}, examples }: UsageParts): string {
  const lines = synopsis.map((form, index) => `${index === 0 ? "Usage:" : "      "} toolwright ${form}`)
  lines.push("", ...wrapped(joined(description.trim()), SCREEN.columns))
  const own = Object.entries(options).filter(([, { common }]) => common !== true)
  const shared = Object.keys(options).filter((name) => options[name]!.common === true)
  const also = shared.length > 5 ? ["common ones"] : shared.map((name) => `--${name}`)
  const more = also.length === 0 ? "" : ` (and ${also.join(", ")}: 'toolwright help options')`
  const [told, named] = [
    own.filter(([, { page }]) => page === undefined),
    own.filter(([, { page }]) => page !== undefined),
  ]
  if (own.length + also.length > 0) lines.push("", `Options${more}:`, ...optionLines(told))
  if (named.length > 0) lines.push(`      Also ${named.map(([name]) => `--${name}`).join(", ")}: ${named[0]![1].page}`)
  lines.push("", "Examples:")
  const width = Math.max(...examples.map(({ line }) => (line.length > SCREEN.columns / 2 ? 0 : line.length)))
  for (const { line, does } of examples) {
    const beside = `  ${line.padEnd(width)}  # ${does}`
    if (beside.length <= SCREEN.columns) lines.push(beside)
    else lines.push(`  # ${does}`, `  ${line}`)
  }
  return `${lines.join("\n")}\n`
}

/** A line break within a sentence is where the source was full; one after a sentence is meant. */
const joined = (text: string): string => text.replaceAll(/(?<![.:])\n(?=\S)/g, " ")

/** Options in two columns, the second one wrapped. */
export function optionLines(options: readonly (readonly [string, OptionDeclaration])[]): string[] {
  const rows = options.map(([name, option]) => {
    const short = option.short === undefined ? "    " : `-${option.short}, `
    const value = option.type === "boolean" ? "" : ` <${option.value ?? "value"}>`
    const repeat = option.multiple === true ? " (repeatable)" : ""
    return { left: `${short}--${name}${value}`, right: `${option.description}${repeat}` }
  })
  const width = Math.max(0, ...rows.map((row) => row.left.length))
  return rows.flatMap(({ left, right }) =>
    wrapped(right, SCREEN.columns - width - 4).map(
      (line, index) => `  ${(index === 0 ? left : "").padEnd(width)}  ${line}`,
    ),
  )
}

/** A text in lines of at most so many characters; its own line breaks stay. */
export function wrapped(text: string, width: number): string[] {
  return text.split("\n").flatMap((paragraph) => {
    const lines = [""]
    for (const word of paragraph.split(" ")) {
      const last = lines.at(-1)!
      if (last === "") lines[lines.length - 1] = word
      else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
      else lines.push(word)
    }
    return lines
  })
}
