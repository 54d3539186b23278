/**
 * Writes everything in the repository that is made from the code: `npm run generate`. The sample of replies, tool sets
 * and schemas first; then the pages and schemas that tests compare with the code and write where they are told to.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { replies } from "./replies.ts"
import { schemas } from "./schemas.ts"
import { toolSets } from "./tool-sets.ts"

const root = join(import.meta.dirname, "../..")
const sample = join(root, "packages/toolformat/sample")
mkdirSync(sample, { recursive: true })
const files = { "replies.jsonl": replies(), "tool-sets.jsonl": toolSets(), "schemas.jsonl": schemas() }
for (const [name, rows] of Object.entries(files))
  writeFileSync(join(sample, name), rows.map((row: unknown) => `${JSON.stringify(row)}\n`).join(""))

const catalogue = spawnSync(
  process.execPath,
  ["--conditions=toolwright-source", join(root, "packages/cli/src/generate.ts")],
  { cwd: join(root, "packages/cli"), stdio: "inherit" },
)

/** Tests that write what they compare. */
const WRITERS = [
  ".ci/house/docs.test.ts",
  ".ci/house/attacks.test.ts",
  ".ci/house/error-codes.test.ts",
  "packages/toolformat/src/docs.test.ts",
  "packages/backends/src/scripted/load.test.ts",
  "packages/runtime/src/configuration/configuration.test.ts",
  "packages/tools/src/tools-page.test.ts",
  "packages/tools/src/wrong-calls.test.ts",
]
const { status } = spawnSync(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...WRITERS], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, UPDATE_DOCS: "1", TOOLWRIGHT_WRITE_DOCS: "1" },
})
process.exitCode = catalogue.status === 0 ? (status ?? 1) : 1
