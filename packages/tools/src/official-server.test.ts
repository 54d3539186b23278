import { execFileSync } from "node:child_process"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { JsonObject, ToolResult } from "@toolwright/toolbox"
import { fileFixture } from "./testing/file-fixture.ts"
import { startOfficialServer, type OfficialAnswer } from "./testing/official-server.ts"

/** Installed by `npm run bench -- files`; where it is not, there is nothing to compare with. */
const PEER = join(
  import.meta.dirname,
  "../../../bench/.peers/files/node_modules/@modelcontextprotocol/server-filesystem",
)
const SERVER = join(PEER, "dist/index.js")

/** One side of the comparison: a workspace of its own, and calls to its tools. */
interface Side {
  root: string
  call(name: string, args: JsonObject): Promise<{ failed: boolean; text: string; data: unknown; bytes: number }>
}

interface Defect {
  what: string
  /** Files in the workspace. */
  files?: Record<string, string | Uint8Array>
  prepare?(root: string): void
  /** Does it to one side and says what came out, in words that are the same on every run. */
  probe(side: Side, official: boolean): Promise<string>
  official: string
  ours: string
}

const lines = (text: string) => `${text.split("\n").filter((line) => line !== "").length} lines`
const edit = (official: boolean, old: string, put: string): JsonObject =>
  official ? { edits: [{ oldText: old, newText: put }] } : { edits: [{ old_text: old, new_text: put }] }

const DEFECTS: Defect[] = [
  {
    what: "`head: 0` of a file of three lines",
    files: { "a.txt": "a1\na2\na3\n" },
    probe: async ({ root, call }) =>
      lines(await content(call("read_text_file", { path: join(root, "a.txt"), head: 0 }))),
    official: "3 lines",
    ours: "0 lines",
  },
  {
    what: "`head: -1`",
    files: { "a.txt": "a1\na2\na3\n" },
    probe: async ({ root, call }) =>
      refusedOr(await call("read_text_file", { path: join(root, "a.txt"), head: -1 }), "accepted"),
    official: "accepted",
    ours: "refused",
  },
  {
    what: "`head: 1.5`",
    files: { "a.txt": "a1\na2\na3\n" },
    probe: async ({ root, call }) =>
      refusedOr(await call("read_text_file", { path: join(root, "a.txt"), head: 1.5 }), "accepted"),
    official: "accepted",
    ours: "refused",
  },
  {
    what: "`tail: 1` of a file that ends with a line break",
    files: { "a.txt": "a1\na2\na3\n" },
    probe: async ({ root, call }) =>
      JSON.stringify((await content(call("read_text_file", { path: join(root, "a.txt"), tail: 1 }))).trim()),
    official: '""',
    ours: '"a3"',
  },
  {
    what: "An argument that does not exist",
    files: { "a.txt": "x" },
    probe: async ({ root, call }) =>
      refusedOr(await call("read_text_file", { path: join(root, "a.txt"), lines: 3 }), "ignored"),
    official: "ignored",
    ours: "refused",
  },
  {
    what: "Editing one line of a file with CRLF line endings: endings left",
    files: { "a.txt": "one\r\ntwo\r\nthree\r\n" },
    async probe({ root, call }, official) {
      await call("edit_file", { path: join(root, "a.txt"), ...edit(official, "two", "2") })
      return `${readFileSync(join(root, "a.txt"), "utf8").split("\r\n").length - 1} of 3`
    },
    official: "0 of 3",
    ours: "3 of 3",
  },
  {
    what: "Editing a text that is there twice",
    files: { "a.txt": "x = 1\ny\nx = 1\n" },
    async probe({ root, call }, official) {
      const answer = await call("edit_file", { path: join(root, "a.txt"), ...edit(official, "x = 1", "x = 2") })
      return refusedOr(
        answer,
        "the first one is changed, silently",
        /lines 1, 3/u.test(answer.text) ? "refused, with both lines" : "refused",
      )
    },
    official: "the first one is changed, silently",
    ours: "refused, with both lines",
  },
  {
    what: "Editing with an empty old text",
    files: { "a.txt": "text\n" },
    async probe({ root, call }, official) {
      const answer = await call("edit_file", { path: join(root, "a.txt"), ...edit(official, "", "new ") })
      return refusedOr(
        answer,
        readFileSync(join(root, "a.txt"), "utf8").startsWith("new ") ? "put at the beginning" : "accepted",
      )
    },
    official: "put at the beginning",
    ours: "refused",
  },
  {
    what: "A text that is nearly there: does the answer show what is?",
    files: { "a.ts": "function total(values) {\n  return values.length\n}\n" },
    async probe({ root, call }, official) {
      const answer = await call("edit_file", {
        path: join(root, "a.ts"),
        ...edit(official, "return value.length", "return 0"),
      })
      return answer.text.includes("return values.length") ? "yes, with its line number" : "no"
    },
    official: "no",
    ours: "yes, with its line number",
  },
  {
    what: "Moving a symbolic link",
    files: { "target.txt": "x" },
    prepare: (root) => symlinkSync("target.txt", join(root, "link")),
    async probe({ root, call }) {
      await call("move_file", { source: join(root, "link"), destination: join(root, "moved") })
      if (existsSync(join(root, "target.txt")) && lstatSync(join(root, "moved")).isSymbolicLink())
        return "the link is moved"
      return existsSync(join(root, "link")) ? "the link is still good" : "its target is moved, the link left dangling"
    },
    official: "its target is moved, the link left dangling",
    ours: "the link is moved",
  },
  {
    what: "Sizes in a directory with a link to a file outside",
    prepare: (root) => {
      writeFileSync(join(root, "../secret.txt"), "s".repeat(54_321))
      symlinkSync("../secret.txt", join(root, "link"))
    },
    async probe({ root, call }) {
      const { text, data } = await call("list_directory_with_sizes", { path: root })
      return /53\.0\d? KB|54321/u.test(text + JSON.stringify(data))
        ? "the outside file's size is shown"
        : "the link's own size is shown"
    },
    official: "the outside file's size is shown",
    ours: "the link's own size is shown",
  },
  {
    what: "A binary file read as text",
    files: { "a.bin": Buffer.from([0, 159, 146, 150, 0, 255]) },
    probe: async ({ root, call }) => {
      const answer = await call("read_text_file", { path: join(root, "a.bin") })
      return refusedOr(
        answer,
        "garbled text",
        answer.text.includes("read_media_file") ? "refused, with the tool to use" : "refused",
      )
    },
    official: "garbled text",
    ours: "refused, with the tool to use",
  },
  {
    what: "Latin-1 text",
    files: { "a.txt": Buffer.from("caf\xe9\n", "latin1") },
    probe: async ({ root, call }) =>
      (await content(call("read_text_file", { path: join(root, "a.txt") }))).includes("café")
        ? "read, encoding reported"
        : "garbled",
    official: "garbled",
    ours: "read, encoding reported",
  },
  {
    what: "Five reads of a FIFO, then a read of a file",
    files: { "a.txt": "x\n" },
    prepare: (root) => void execFileSync("mkfifo", [join(root, "fifo")]),
    async probe({ root, call }) {
      const fifos = Array.from({ length: 5 }, () =>
        call("read_text_file", { path: join(root, "fifo") }).catch(() => undefined),
      )
      const after = await call("read_text_file", { path: join(root, "a.txt") }).then(
        () => "answered",
        () => "no answer to anything any more",
      )
      const first = await Promise.race([...fifos, new Promise<undefined>((resolve) => setTimeout(resolve, 500))])
      return first?.failed === true ? `refused at once; the file is ${after}` : after
    },
    official: "no answer to anything any more",
    ours: "refused at once; the file is answered",
  },
  {
    what: "A file of 6 MB: the answer that a client gets",
    files: { "big.txt": "some text in a line\n".repeat(314_573) },
    async probe({ root, call }) {
      const { bytes } = await call("read_text_file", { path: join(root, "big.txt") })
      return bytes > 12e6 ? "over 12 MB: everything twice" : "the content once, and a window of 50 KiB for the model"
    },
    official: "over 12 MB: everything twice",
    ours: "the content once, and a window of 50 KiB for the model",
  },
  {
    what: "`head: 1` of a line of 1 MB",
    files: { "line.txt": "x".repeat(1024 * 1024) },
    async probe({ root, call }) {
      const path = join(root, "line.txt")
      /** The best of three: others on a busy machine only add. */
      const timeOf = async (args: JsonObject): Promise<number> => {
        let best = Infinity
        for (let attempt = 0; attempt < 3; attempt++) {
          const started = performance.now()
          await call("read_text_file", args)
          best = Math.min(best, performance.now() - started)
        }
        return best
      }
      return (await timeOf({ path, head: 1 })) > 10 * (await timeOf({ path }))
        ? "takes many times as long as the whole file"
        : "takes as long as the whole file"
    },
    official: "takes many times as long as the whole file",
    ours: "takes as long as the whole file",
  },
  {
    what: "Facts about a file, for programs",
    files: { "a.txt": "x" },
    async probe({ root, call }) {
      const { data } = await call("get_file_info", { path: join(root, "a.txt") })
      const fields = Object.keys(data as object).length
      return fields > 1 ? "one field each" : "lines of one text"
    },
    official: "lines of one text",
    ours: "one field each",
  },
  {
    what: "A file that changes between a dry run and the edit: can the edit notice?",
    files: { "a.txt": "one\n" },
    async probe({ root, call }, official) {
      await call("edit_file", {
        path: join(root, "a.txt"),
        ...edit(official, "one", "two"),
        ...(official ? { dryRun: true } : { dry_run: true }),
      })
      writeFileSync(join(root, "a.txt"), "one, but another one\n")
      const guard = official ? {} : { expected_hash: "7692c3ad3540bb80" }
      return refusedOr(
        await call("edit_file", { path: join(root, "a.txt"), ...edit(official, "one,", "two,"), ...guard }),
        "no",
        "yes, by its hash",
      )
    },
    official: "no",
    ours: "yes, by its hash",
  },
]

type Answer = Awaited<ReturnType<Side["call"]>>

function refusedOr({ failed }: Answer, otherwise: string, refused = "refused"): string {
  return failed ? refused : otherwise
}

async function content(call: Promise<Answer>): Promise<string> {
  return (await call).data === undefined ? "" : ((await call).data as { content: string }).content
}

async function onOfficial(defect: Defect): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-official-")))
  const root = join(folder, "ws")
  mkdirSync(root)
  for (const [name, text] of Object.entries(defect.files ?? {})) writeFileSync(join(root, name), text)
  defect.prepare?.(root)
  using server = await startOfficialServer(SERVER, root)
  const timeout = defect.what.includes("FIFO") ? 3000 : 60_000
  const wrap = ({ text, isError, structured, bytes }: OfficialAnswer): Answer => ({
    failed: isError,
    text,
    data: structured,
    bytes,
  })
  try {
    return await defect.probe({ root, call: async (name, args) => wrap(await server.call(name, args, timeout)) }, true)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function onOurs(defect: Defect): Promise<string> {
  using files = fileFixture(defect.files ?? {})
  defect.prepare?.(files.root)
  const wrap = ({ success, output, data }: ToolResult): Answer => ({
    failed: !success,
    text: output,
    data,
    bytes: Buffer.byteLength(JSON.stringify(data ?? null)) + Buffer.byteLength(output),
  })
  return await defect.probe({ root: files.root, call: async (name, args) => wrap(await files.call(name, args)) }, false)
}

describe("each defect of the official filesystem server", () => {
  test.each(DEFECTS)("is none of ours: $what", async (defect) => {
    expect(await onOurs(defect)).toBe(defect.ours)
  })

  test.skipIf(!existsSync(SERVER)).each(DEFECTS)(
    "is still there: $what (needs the server: npm run bench -- files)",
    { timeout: 90_000 },
    async (defect) => {
      expect(await onOfficial(defect)).toBe(defect.official)
    },
  )
})

test("docs/filesystem-server.md holds what was seen of both", () => {
  const rows = DEFECTS.map(({ what, official, ours }) => `| ${what} | ${official} | ${ours} |`)
  const text = [
    "# Beside MCP's official filesystem server",
    "",
    "What `@modelcontextprotocol/server-filesystem` 2026.8.31 does, and what the tools here do in its place. " +
      "Each row is done to both by",
    "`packages/tools/src/official-server.test.ts` (the server is installed by `npm run bench -- files`, which " +
      "also compares speed);",
    "`UPDATE_DOCS=1` writes this page anew.",
    "",
    "| what is done | official server | here |",
    "| --- | --- | --- |",
    ...rows,
    "",
  ].join("\n")
  const page = join(import.meta.dirname, "../../../docs/filesystem-server.md")
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(page, text)
  expect(readFileSync(page, "utf8")).toBe(text)
})
