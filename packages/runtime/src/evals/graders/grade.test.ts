import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createNetworkHost } from "@toolwright/host/net"
import { createToolHost } from "@toolwright/host/own"
import { createWorkspace } from "@toolwright/host/paths"
import { beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { gradeAll } from "./grade.ts"
import type { Grader } from "./grader.ts"
import type { EndedTrial, Judgement } from "./kind.ts"

function ended(more: Partial<EndedTrial> = {}): EndedTrial & { folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-graders-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, "a.txt"), "one\ntwo\n")
  const workspace = createWorkspace({ roots: [{ path: folder, access: "read-write" }], denyRead: [], denyWrite: [] })
  const host = createToolHost({ workspace, network: createNetworkHost(), log: () => {} })
  const calls = [
    { name: "look", arguments: { path: "a.txt", deep: { lines: [1, 2] } }, succeeded: true },
    { name: "change", arguments: { path: "a.txt", text: "const a = 1" }, succeeded: false },
    { name: "look", arguments: { path: "b.txt" }, succeeded: true },
  ]
  return {
    folder,
    task: "Do it.",
    answer: 'It is done:\n```json\n{"n": 3}\n```',
    outcome: "completed",
    calls,
    attempted: [...calls, { name: "remove", arguments: { path: "a.txt" }, succeeded: false }],
    host: host({ signal: new AbortController().signal }),
    judge: () => Promise.reject(new Error("404 no such model")),
    ...more,
  }
}

const verdictOf = async (grader: Grader, trial: EndedTrial): Promise<string> =>
  (await gradeAll([grader], trial))[0]!.verdict

describe("each grader tells a pass from a fail", () => {
  test.each<[Grader, Grader]>([
    [{ answer: { contains: "done" } }, { answer: { contains: "undone" } }],
    [{ answer: { contains: ["it IS", "DONE"], ignoreCase: true } }, { answer: { contains: ["it IS", "DONE"] } }],
    [{ answer: { lacks: "sorry" } }, { answer: { lacks: ["sorry", "done"] } }],
    [{ answer: { matches: "^It is d.ne:$" } }, { answer: { matches: "^done" } }],
    [{ called: "look" }, { called: "fly" }],
    [{ called: "l*k" }, { called: "remove" }],
    [{ called: { tool: "look", times: 2 } }, { called: { tool: "look", times: 1 } }],
    [{ called: { tool: "look", times: { atMost: 2 } } }, { called: { tool: "look", times: { atLeast: 3 } } }],
    [{ called: { tool: "fly", times: 0 } }, { called: { tool: "look", times: 0 } }],
    [{ called: { tool: "look", with: { path: "b.txt" } } }, { called: { tool: "look", with: { path: "c.txt" } } }],
    [
      { called: { tool: "look", with: { deep: { lines: [1, 2] } } } },
      { called: { tool: "look", with: { deep: { lines: [1] } } } },
    ],
    [
      { called: { tool: "change", with: { text: { matches: "const \\w = 1" } } } },
      { called: { tool: "change", with: { text: { contains: "let" } } } },
    ],
    [{ called: { tool: "change", succeeded: false } }, { called: { tool: "change", succeeded: true } }],
    [{ notCalled: "fly" }, { notCalled: "look" }],
    [{ notCalled: { tool: "look", with: { path: "c.txt" } } }, { notCalled: "remove" }],
    [{ inOrder: ["look", "change", "look"] }, { inOrder: ["change", "look", "look"] }],
    [{ outcome: ["completed", "stuck"] }, { outcome: "stuck" }],
    [{ file: { path: "a.txt" } }, { file: { path: "b.txt" } }],
    [{ file: { path: "b.txt", exists: false } }, { file: { path: "a.txt", exists: false } }],
    [{ file: { path: "a.txt", equals: "one\ntwo" } }, { file: { path: "a.txt", equals: "one" } }],
    [{ command: { run: ["test", "-f", "a.txt"] } }, { command: { run: "test -f b.txt" } }],
    [{ command: { run: "sh ./a.txt; true" } }, { command: { run: ["./made-by-nobody"] } }],
    [{ command: { run: "exit 3", exit: 3 } }, { command: { run: "exit 3", exit: 4 } }],
    [
      { command: { run: "wc -l < a.txt", prints: { matches: "^ *2$" } } },
      { command: { run: "wc -l < a.txt", prints: { contains: "7" } } },
    ],
    [{ not: { called: "fly" } }, { not: { called: "look" } }],
    [{ any: [{ called: "fly" }, { called: "look" }] }, { any: [{ called: "fly" }, { called: "swim" }] }],
    [{ all: [{ called: "look" }, { called: "change" }] }, { all: [{ called: "look" }, { called: "fly" }] }],
    [
      { weighted: { of: [{ called: "look", weight: 3 }, { called: "fly" }], atLeast: 0.75 } },
      { weighted: { of: [{ called: "look", weight: 2 }, { called: "fly" }], atLeast: 0.75 } },
    ],
  ])("%j, %j", async (good, bad) => {
    const trial = ended()
    expect(await verdictOf(good, trial)).toBe("pass")
    expect(await verdictOf(bad, trial)).toBe("fail")
  })

  test("a schema, of JSON in a block and of an answer that has a form", async () => {
    const schema = (minimum: number) => ({
      type: "object",
      properties: { n: { type: "number", minimum } },
      required: ["n"],
    })
    const block = ended({ answer: '```json\n{"n": 3}\n```' })
    expect(await verdictOf({ answer: { schema: schema(3) } }, block)).toBe("pass")
    expect(await verdictOf({ answer: { schema: schema(4) } }, block)).toBe("fail")
    expect(await verdictOf({ answer: { schema: schema(1) } }, ended({ answer: "no JSON" }))).toBe("fail")
    expect(await verdictOf({ answer: { schema: schema(9) } }, ended({ answer: "as told", output: { n: 9 } }))).toBe(
      "pass",
    )
  })

  test("what a model judges, by its score", async () => {
    const judgement: Judgement = { score: 0.6, reason: "so so", run: "r1" }
    const asked: string[] = []
    const trial = ended({ judge: async (question) => (asked.push(question), judgement) })
    expect(
      await gradeAll([{ rubric: "short" }, { rubric: { rubric: "short", atLeast: 0.5, files: ["a.txt"] } }], trial),
    ).toMatchObject([
      { verdict: "fail", score: 0.6, reason: "so so", run: "r1" },
      { verdict: "pass", score: 0.6 },
    ])
    expect(asked[1]).toContain(String.raw`one\ntwo\n`)
  })
})

describe("what a grader cannot tell is neither a pass nor a fail", () => {
  const untold: Grader = { rubric: "short" }

  test.each<[string, Grader]>([
    ["a judge that does not answer", untold],
    ["not of it", { not: untold }],
    ["a program that is not there", { command: { run: "no-such-program-here" } }],
    ["the same without a shell", { command: { run: ["no-such-program-here"] } }],
    ["a pattern without an end", { answer: { matches: "^(a+)+$" } }],
    ["all, where nothing fails", { all: [{ called: "look" }, untold] }],
    ["any, where nothing passes", { any: [{ called: "fly" }, untold] }],
    [
      "a weighted sum, however much the rest weighs",
      { weighted: { of: [{ called: "look", weight: 99 }, untold], atLeast: 0.1 } },
    ],
  ])("%s", async (_, grader) => {
    const [grade] = await gradeAll([grader], ended({ answer: `${"a".repeat(60)}!` }))
    expect(grade).toMatchObject({ verdict: "error", reason: expect.stringMatching(/./) })
    expect(grade).not.toHaveProperty("score")
  })

  test("but what decides without it decides", async () => {
    const trial = ended()
    expect(await verdictOf({ all: [untold, { called: "fly" }] }, trial)).toBe("fail")
    expect(await verdictOf({ any: [untold, { called: "look" }] }, trial)).toBe("pass")
  })
})

describe("what an agent left in the place of files leads nowhere", () => {
  let outside = ""
  beforeAll(() => {
    outside = mkdtempSync(join(tmpdir(), "toolwright-outside-"))
    writeFileSync(join(outside, "secret.txt"), "outside")
    return () => rmSync(outside, { recursive: true, force: true })
  })

  test("no trial gets out of the figures by what stands in a file's place, or by the code that it ends with", async () => {
    const trial = ended()
    mkdirSync(join(trial.folder, "folder.txt"))
    symlinkSync(join(outside, "secret.txt"), join(trial.folder, "link.txt"))
    const over = (path: string): Grader => ({ command: { run: "true", files: { [path]: "test" } } })
    for (const path of ["folder.txt", "a.txt/test.js"]) expect(await verdictOf(over(path), trial)).toBe("fail")
    for (const path of ["folder.txt", "link.txt"])
      expect(await verdictOf({ file: { path, exists: false } }, trial)).toBe("fail")
    expect(await verdictOf({ file: { path: "a.txt/x", exists: false } }, trial)).toBe("pass")
    for (const code of [126, 127]) {
      expect(await verdictOf({ command: { run: `sh -c 'exit ${code}'` } }, trial)).toBe("fail")
      expect(await verdictOf({ command: { run: ["sh", "-c", `exit ${code}`] } }, trial)).toBe("fail")
      expect(await verdictOf({ command: { run: `cd . && CI=1 sh -c 'exit ${code}'` } }, trial)).toBe("fail")
    }
    expect(await verdictOf({ command: { run: "cd . && no-such-program-here" } }, trial)).toBe("error")
  })

  test("a link to elsewhere is not read, and not written through", async () => {
    const trial = ended()
    symlinkSync(join(outside, "secret.txt"), join(trial.folder, "link.txt"))
    mkdirSync(join(trial.folder, "folder.txt"))
    expect(await verdictOf({ file: { path: "link.txt", contains: "outside" } }, trial)).toBe("fail")
    expect(await verdictOf({ file: { path: "folder.txt" } }, trial)).toBe("fail")
    expect(await verdictOf({ file: { path: "../secret.txt" } }, trial)).toBe("fail")
    const check: Grader = {
      command: { run: "cat link.txt", files: { "link.txt": "inside" }, prints: { equals: "inside" } },
    }
    expect(await verdictOf(check, trial)).toBe("pass")
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("outside")
  })
})
