import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { compilerLines } from "./compiler.ts"
import { blocks, root } from "./run-example.ts"

/** Pieces of a program, which name what stands elsewhere on their page. */
const PIECES = /from "\.\.?\/|from "(?:vitest|ai|@ai-sdk\/[\w-]+)"/

/** The programs of the pages: what imports something of ours. */
const programs = ["README.md", ...readdirSync(join(root, "docs")).filter((file) => file.endsWith(".md"))].flatMap(
  (file) =>
    blocks(file === "README.md" ? file : `docs/${file}`, "ts")
      .map((code, at) => ({ name: `${file.replace(".md", "")}-${at + 1}.ts`, code }))
      .filter(({ code }) => /from "(?:@toolwright\/|toolwright["/])/.test(code) && !PIECES.test(code)),
)

/** As strict as a reader's own project may be. */
const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  module: "nodenext",
  target: "es2024",
  lib: ["es2024", "esnext.disposable", "esnext.array", "dom"],
  types: ["node"],
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  customConditions: ["toolwright-source"],
}

test("the programs of README and docs have no error of types, for readers with strict compilers", () => {
  expect(programs.length).toBeGreaterThan(30)
  const folder = join(root, "node_modules/.cache/docs-types")
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { name, code } of programs) writeFileSync(join(folder, name), code)
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: OPTIONS, include: ["*.ts"] }))
  // What the sources of this repository are checked for is checked elsewhere.
  expect(compilerLines(folder).filter((line) => /^[\w-]+\.ts\(/.test(line))).toEqual([])
}, 300_000)
