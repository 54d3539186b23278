import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

/** Made up, in the form that such keys have; put together here, so that no scanner takes it for a real one. */
const SECRET = ["ghp", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].join("_")

const PLAY = `steps:
  - reply: { calls: [{ name: file_read, arguments: { path: notes.txt } }] }
  - reply: "It says ${SECRET}."
`

test.each(["run.html", "run.json"])(
  "a run that is sent as %s has no secret in it that was read or said",
  async (name) => {
    const cwd = folderWith({ "notes.txt": `the key is ${SECRET}\nand more\n`, "play.yaml": PLAY })
    await here(["run", "What does notes.txt say?", "--screenplay", "play.yaml"], { cwd })
    const html = name.endsWith(".html") ? ["--html"] : []
    expect((await here(["runs", "export", "latest", ...html, "--to", name], { cwd })).stderr).not.toContain("rror")
    const text = readFileSync(join(cwd, name), "utf8")
    expect(text).toContain("and more")
    expect(text).not.toContain(SECRET)
  },
)

test.skipIf(process.platform === "win32")(
  "what is no file of a run is named, and nothing waits for a pipe",
  async () => {
    const cwd = folderWith({ "notes.txt": "no run\n" })
    execFileSync("mkfifo", [join(cwd, "pipe.json")])
    for (const [name, why] of [
      ["gone.json", "There is no file"],
      ["pipe.json", "is no regular file"],
      [".", "is no regular file"],
    ]) {
      const { code, stderr } = await here(["runs", "import", name!], { cwd })
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(why!) as string })
      expect(stderr).not.toContain("    at ")
    }
  },
)
