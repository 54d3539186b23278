import { resolve } from "node:path"
import { shellWord } from "@toolwright/toolbox/shell-word"

/**
 * What a command needs beside a run's or a task's id to find it, as it is typed: nothing for the own database of the
 * folder where the command is, nor for a server's, whose address may hold a password.
 */
export function databaseFlag(target: string, cwd: string): string {
  const isOwn = target === resolve(cwd, ".toolwright/state.sqlite") || target.includes("://")
  return isOwn ? "" : ` --database ${shellWord(target)}`
}
