import { nearest, ToolwrightError } from "@toolwright/toolbox"
import { SETTINGS } from "./settings.ts"

/**
 * Compares what a program gives with the settings that there are: a name that is none would be passed over in silence,
 * and the default be taken for what was meant.
 *
 * @param own names of options that are no settings
 * @throws ToolwrightError `INVALID_CONFIGURATION` with the name that was probably meant
 */
export function checkOptions(given: object, own: readonly string[]): void {
  const paths = new Set(
    SETTINGS.flatMap(({ key }) => key.split(".").map((_, at, parts) => parts.slice(0, at + 1).join("."))),
  )
  const walk = (value: object, prefix: string): void => {
    for (const [name, inner] of Object.entries(value)) {
      const path = prefix + name
      if (inner === undefined || (prefix === "" && own.includes(name))) continue
      if (!paths.has(path)) throw unknown(path, [...paths, ...own])
      const isSection = !SETTINGS.some(({ key }) => key === path)
      if (isSection && typeof inner === "object" && inner !== null) walk(inner, `${path}.`)
    }
  }
  walk(given, "")
}

function unknown(path: string, known: readonly string[]): ToolwrightError {
  const last = (text: string): string => text.split(".").at(-1)!.toLowerCase()
  const meant = nearest(path, known)[0] ?? known.find((other) => last(other) === last(path))
  return new ToolwrightError("INVALID_CONFIGURATION", `createToolwright has no option \`${path}\`.`, {
    hint: meant === undefined ? "docs/configuration.md lists the settings." : `Did you mean \`${meant}\`?`,
  })
}
