import type { Reading } from "./pairing.ts"

/** A call as a command for a shell, to be typed by whoever wants it. */
export function commandFor({ name, arguments: args }: Reading): string {
  const given = Object.keys(args).length === 0 ? "" : ` --args ${quoted(JSON.stringify(args))}`
  return `toolwright tools call ${name}${given}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
