import { chmodSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { callTool } from "@toolwright/host/testing/call-tool"
import { describe, expect, onTestFinished, test } from "vitest"
import { fileFixture, type FileFixture } from "../testing/file-fixture.ts"
import { grep, type GrepOptions } from "./grep.ts"
import type { ContentQuery } from "./query.ts"
import { createSearchTool } from "./search.ts"

const QUERY: ContentQuery = {
  pattern: "alpha",
  fixed: false,
  ignoreCase: false,
  word: false,
  include: [],
  includeIgnored: false,
}
const GIGABYTES = 6 * 2 ** 30

function folderWith(contents: Record<string, string>): FileFixture {
  const files = fileFixture(contents)
  onTestFinished(() => files[Symbol.dispose]())
  return files
}

const search = (files: FileFixture, options: Partial<GrepOptions> = {}) =>
  grep(files.workspace, ".", QUERY, { maxResults: 100, context: 0, ...options })

const below = (files: FileFixture, paths: readonly string[]) => paths.map((path) => path.slice(files.root.length + 1))

describe("a search is bounded in what it looks at", () => {
  test.each([".gitignore", "sub/.gitignore", "sub/.ignore"])("rules of gigabytes in %s are none", async (name) => {
    const files = folderWith({ "a.txt": "alpha\n", "sub/b.txt": "alpha\n", [name]: "" })
    truncateSync(join(files.root, name), GIGABYTES)
    const { matches, leftOut } = await search(files)
    expect(
      below(
        files,
        matches.map(({ path }) => path),
      ),
    ).toEqual(["a.txt", "sub/b.txt"])
    expect(below(files, leftOut)).toEqual([name])
  })

  test("files of gigabytes are left out where they would be read whole, and the answer names them", async () => {
    const files = folderWith({ "a.txt": "alpha\n", "big.txt": "", "ignored.txt": "", ".gitignore": "ignored.txt\n" })
    for (const name of ["big.txt", "ignored.txt"]) truncateSync(join(files.root, name), GIGABYTES)
    const found = await search(files, { engine: "re2js" })
    expect(below(files, found.leftOut)).toEqual(["big.txt"])
    expect(found.matches).toHaveLength(1)
    truncateSync(join(files.root, ".gitignore"), GIGABYTES)
    const args = { action: "grep", pattern: "alpha", include: "*.txt" }
    const { output, data } = await callTool(createSearchTool(files.workspace), args)
    expect(output).toMatch(/a\.txt:1: alpha\n\[Not searched, too large: \S+big\.txt, \S+ignored\.txt\./u)
    expect(data).toMatchObject({ total: 1, left_out: [expect.stringContaining("big.txt"), expect.any(String)] })
  })

  test("and of all files together no more than so many bytes", async () => {
    const files = folderWith({ "a.txt": `alpha\n${"x".repeat(2000)}`, "b.txt": "alpha\n", "c.txt": "alpha\n" })
    const found = await search(files, { engine: "re2js", bounds: { fileBytes: 10_000, bytes: 1000, ms: 60_000 } })
    expect(found).toMatchObject({ total: 1, incomplete: true, late: true })
  })
})

/** What stands in ripgrep's place, in a folder of its own. */
function ripgrepThat(script: string): string {
  const files = folderWith({ rg: `#!/bin/sh\n${script}\n` })
  chmodSync(join(files.root, "rg"), 0o755)
  return join(files.root, "rg")
}
const FINDS = String.raw`printf './a.txt\0001:\n'`

describe.skipIf(process.platform === "win32")("ripgrep is not waited for without end", () => {
  test("where a large file holds it up it is run again without those", async () => {
    const files = folderWith({ "a.txt": "alpha\n", "big.txt": "x".repeat(2000) })
    const executable = ripgrepThat(`case "$*" in *--max-filesize=1000*) ${FINDS} ;; *) exec sleep 600 ;; esac`)
    const found = await search(files, { executable, bounds: { fileBytes: 1000, bytes: 1, ms: 60_000 } })
    expect(below(files, found.leftOut)).toEqual(["big.txt"])
    expect(found).toMatchObject({ total: 1, incomplete: false, late: false })
  })

  test("where its time is over what it has found is the answer", async () => {
    const files = folderWith({ "a.txt": "alpha\n" })
    const executable = ripgrepThat(`${FINDS}\nexec sleep 600`)
    const found = await search(files, { executable, bounds: { fileBytes: 1000, bytes: 1, ms: 400 } })
    expect(found).toMatchObject({ incomplete: true, late: true })
  })

  test.each(["ripgrep", "re2js"] as const)("a search that is broken off ends: %s", async (engine) => {
    const files = folderWith({ "a.txt": "alpha\n".repeat(200_000) })
    const executable = ripgrepThat("exec sleep 600")
    const controller = new AbortController()
    const searching = search(files, { engine, executable, signal: controller.signal })
    setImmediate(() => controller.abort(new Error("no longer wanted")))
    await expect(searching).rejects.toThrow("no longer wanted")
  })
})
