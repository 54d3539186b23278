import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, onTestFinished, test } from "vitest"
import { built } from "../../../cli/src/testing/built-command.ts"
import { LLAMA } from "../testing/engine-here.ts"
import { tinyModelFile } from "../testing/tiny-model.ts"

const root = fileURLToPath(new URL("../../../../", import.meta.url))
const page = readFileSync(new URL("../../../../docs/llama-backend.md", import.meta.url), "utf8")

test.skipIf(!LLAMA.installed)(
  "the examples of the page on the in-process backend run, and print what their comments say",
  async () => {
    await using model = await tinyModelFile()
    const examples = [...page.matchAll(/^```ts\n([^]*?)^```/gm)].map((match) => match[1]!)
    expect(examples.length).toBe(3)
    // The engine tries its binary in a process of its own with this one's flags, so the code must stand in a file.
    const folder = mkdtempSync(join(await built(), "docs-"))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    for (const [index, code] of examples.entries()) {
      const file = join(folder, `llama-backend-${index}.mjs`)
      writeFileSync(file, code)
      const { stdout } = await promisify(execFile)(process.execPath, [file], {
        cwd: root,
        env: { ...process.env, MODEL_PATH: model.path },
      })
      const said = [...code.matchAll(/(?:console\.log\(.*\) |^)\/\/ (.*)$/gm)].map((match) => match[1]!)
      expect(stdout.trimEnd().split("\n")).toEqual(said)
    }
  },
)
