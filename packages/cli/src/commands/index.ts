import type { CommandEntry } from "../command.ts"

/** Every command, in the order of the help. Adding one is a file in this folder and a line here; nothing is loaded until used. */
export const COMMANDS: readonly CommandEntry[] = [
]
