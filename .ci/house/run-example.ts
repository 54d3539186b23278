import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect } from "vitest"
import { built } from "../../packages/cli/src/testing/built-command.ts"

export const root = join(import.meta.dirname, "../..")

export const read = (file: string): string => readFileSync(join(root, file), "utf8")

/** The code blocks of a page in one language. */
export const blocks = (file: string, language: string): string[] =>
  [...read(file).matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, "gm"))].map((match) => match[1]!)

/** Where examples import our packages as they are built: from hundreds of sources each start takes thrice as long. */
const besideBuilt = async (): Promise<string> => join(await built(), "examples")

/**
 * Runs the code of a page as a module and gives what it printed.
 *
 * @param sources a folder of the repository, for code that imports more than our packages: it gets their sources
 */
export async function runExample(name: string, code: string, sources?: string): Promise<string> {
  const folder = sources ?? (await besideBuilt())
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, stripTypeScriptTypes(code))
  const flags = sources === undefined ? [] : ["--conditions=toolwright-source"]
  // Examples leave to their reader what they made.
  const made = mkdtempSync(join(tmpdir(), "example-"))
  const env = { ...process.env, TMPDIR: made }
  const child = spawn(process.execPath, [...flags, file], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] })
  let text = ""
  child.stdout.on("data", (data) => (text += String(data)))
  child.stderr.on("data", (data) => (text += String(data)))
  const status = await new Promise((resolve) => child.on("close", resolve))
  rmSync(made, { recursive: true, force: true })
  expect(status, text).toBe(0)
  return text
}
