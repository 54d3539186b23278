import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { expect } from "vitest"

export const root = join(import.meta.dirname, "../..")

export const read = (file: string): string => readFileSync(join(root, file), "utf8")

/** The code blocks of a page in one language. */
export const blocks = (file: string, language: string): string[] =>
  [...read(file).matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, "gm"))].map((match) => match[1]!)

/** Runs the code of a page as a module of the repository and gives what it printed. */
export async function runExample(
  name: string,
  code: string,
  folder = join(root, "node_modules/.cache/docs"),
): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, stripTypeScriptTypes(code))
  const child = spawn(process.execPath, ["--conditions=toolwright-source", file], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  })
  let text = ""
  child.stdout.on("data", (data) => (text += String(data)))
  child.stderr.on("data", (data) => (text += String(data)))
  const status = await new Promise((resolve) => child.on("close", resolve))
  expect(status, text).toBe(0)
  return text
}
