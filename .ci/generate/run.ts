/**
 * Writes everything in the repository that is made from the code: `npm run generate`. The sample of replies, tool sets
 * and schemas first; then the pages and schemas that tests compare with the code and write where they are told to.
 * `npm run generate tools` and `npm run generate formats` write only what a tool or a format is part of.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { replies } from "./replies.ts"
import { schemas } from "./schemas.ts"
import { toolSets } from "./tool-sets.ts"

const part = process.argv[2] ?? "all"
if (!["all", "tools", "formats"].includes(part)) {
  console.error(`There is no part '${part}': npm run generate [tools|formats]`)
  process.exit(2)
}

const root = join(import.meta.dirname, "../..")
if (part !== "tools") {
  const sample = join(root, "packages/toolformat/sample")
  mkdirSync(sample, { recursive: true })
  const files = { "replies.jsonl": replies(), "tool-sets.jsonl": toolSets(), "schemas.jsonl": schemas() }
  for (const [name, rows] of Object.entries(files))
    writeFileSync(join(sample, name), rows.map((row: unknown) => `${JSON.stringify(row)}\n`).join(""))
}

const catalogue = spawnSync(
  process.execPath,
  ["--conditions=toolwright-source", join(root, "packages/cli/src/generate.ts")],
  { cwd: join(root, "packages/cli"), stdio: "inherit" },
)

/** Tests that write what they compare. */
const WRITERS = {
  formats: ["packages/toolformat/src/docs.test.ts"],
  tools: ["packages/tools/src/tools-page.test.ts", "packages/tools/src/wrong-calls.test.ts"],
  others: [
    ".ci/house/docs.test.ts",
    ".ci/house/attacks.test.ts",
    ".ci/house/error-codes.test.ts",
    "packages/backends/src/scripted/load.test.ts",
    "packages/prompts/src/prompts.test.ts",
    "packages/runtime/src/configuration/configuration.test.ts",
    "packages/store/src/database/new-database.test.ts",
  ],
}
const tests = part === "all" ? Object.values(WRITERS).flat() : WRITERS[part as "tools" | "formats"]
const { status } = spawnSync(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...tests], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, UPDATE_DOCS: "1" },
})
process.exitCode = catalogue.status === 0 ? (status ?? 1) : 1
