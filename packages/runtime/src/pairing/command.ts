import { shellQuoted } from "@toolwright/toolbox/shell-word"
import type { Reading } from "./pairing.ts"

/** Options of the command itself, as arguments are spelt; a test of the command holds that none is missing. */
const COMMANDS_OWN = new Set(
  (
    "json split args timeout record config trust root read_only kits builtins only_tools without_tools tools " +
    "agents rest mcp_server mcp_config show_secret database"
  ).split(" "),
)

/** A call as a command for a shell, to be typed by whoever wants it: in flags where the arguments are plain values. */
export function commandFor({ name, arguments: args }: Reading): string {
  const given = Object.entries(args)
  if (given.length === 0) return `toolwright tools call ${name}`
  const flags = given.map(([key, value]) => flag(key, value))
  const rest = flags.includes(undefined) ? `--args ${shellQuoted(JSON.stringify(args))}` : flags.join(" ")
  return `toolwright tools call ${name} ${rest}`
}

/** `undefined` where a flag could be read as something else: a list, an object, or one of the command's own. */
function flag(key: string, value: unknown): string | undefined {
  if (!/^[a-z][a-z0-9_]*$/.test(key) || COMMANDS_OWN.has(key)) return undefined
  const name = `--${key.replaceAll("_", "-")}`
  if (typeof value === "boolean" || typeof value === "number") return `${name}=${value}`
  if (typeof value !== "string" || value.startsWith("@")) return undefined
  const text = /^[\w./:@%+,][\w./:@%+,-]*$/.test(value) ? value : shellQuoted(value)
  return value.startsWith("-") || value === "" ? `${name}=${text}` : `${name} ${text}`
}
