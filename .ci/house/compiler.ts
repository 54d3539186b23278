import { spawnSync } from "node:child_process"
import { join } from "node:path"

const TSC = join(import.meta.dirname, "../../node_modules/typescript/bin/tsc")

/**
 * The lines that the compiler says of a folder with a `tsconfig.json`. All sources that it imports are read and checked
 * along, once: several threads check what they share once each, and memory that is not collected in so short a life
 * saves a third of the rest.
 */
export function compilerLines(folder: string): string[] {
  const args = [TSC, "-p", folder, "--pretty", "false", "--singleThreaded"]
  const env = { ...process.env, GOGC: "off" }
  const { stdout, status, error } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8" })
  // 1 and 2 are its answers where it found errors.
  if (error !== undefined || ![0, 1, 2].includes(status ?? -1))
    throw error ?? new Error(`The compiler ended: ${status}`)
  return stdout.split("\n")
}
