import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { loadScreenplay } from "@toolwright/backends"
import { expect, onTestFinished, test } from "vitest"
import { planFile } from "../plans/file.ts"
import { createToolwright } from "../toolwright.ts"

/** Texts of nine names, each nine times the one before. */
const BOMB = ["a: &a [x, x, x, x, x, x, x, x, x]"]
for (const [before, name] of ["ab", "bc", "cd", "de", "ef", "fg", "gh", "hi"])
  BOMB.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(", ")}]`)

const PLACES: Readonly<Record<string, (path: string) => void>> = {
  "a pipe": (path) => void execFileSync("mkfifo", [path]),
  "a device without end": (path) => symlinkSync("/dev/zero", path),
  "a file that is too large": (path) => {
    writeFileSync(path, "")
    truncateSync(path, 3 * 1024 ** 3)
  },
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "places-"))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

test.skipIf(process.platform === "win32").each(Object.keys(PLACES))(
  "%s in place of tools, agents, a plan or a screenplay holds nothing up",
  async (kind) => {
    const cwd = folder()
    for (const name of ["tools.mjs", "agent.yaml", "plan.yaml", "play.yaml"]) PLACES[kind]!(join(cwd, name))
    mkdirSync(join(cwd, "package"))
    PLACES[kind]!(join(cwd, "package/package.json"))
    const refused = { code: "INVALID_CONFIGURATION" }
    await expect(createToolwright({ cwd, tools: ["./tools.mjs"] })).rejects.toMatchObject(refused)
    await expect(createToolwright({ cwd, tools: ["./package"] })).rejects.toMatchObject(refused)
    await expect(createToolwright({ cwd, agents: { files: ["./agent.yaml"] } })).rejects.toMatchObject(refused)
    await expect(loadScreenplay(join(cwd, "play.yaml"))).rejects.toMatchObject({ code: "SCREENPLAY_INVALID" })
    const plan = await planFile(join(cwd, "plan.yaml")).catch((thrown: { code: string }) => thrown.code)
    expect(plan ?? "INVALID_PLAN").toBe("INVALID_PLAN")
  },
)

test("YAML whose names multiply is refused at once, whichever file it stands in", async () => {
  const cwd = folder()
  for (const name of ["agent.yaml", "plan.yaml", "play.yaml"]) writeFileSync(join(cwd, name), BOMB.join("\n"))
  const agents = { files: ["./agent.yaml"] }
  await expect(createToolwright({ cwd, agents })).rejects.toMatchObject({ code: "INVALID_AGENT" })
  await expect(planFile(join(cwd, "plan.yaml"))).rejects.toMatchObject({ code: "INVALID_PLAN" })
  await expect(loadScreenplay(join(cwd, "play.yaml"))).rejects.toMatchObject({ code: "SCREENPLAY_INVALID" })
})
