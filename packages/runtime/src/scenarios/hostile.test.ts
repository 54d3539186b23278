import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createScriptedBackend } from "@toolwright/backends"
import type { RunSummary } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { check, commit, DONE, FIX, replace, shell, write, type Attempt } from "../testing/hostile/attempt.ts"
import { FALSE_CLAIMS } from "../testing/hostile/false-claims.ts"
import { OTHER_RUNNERS } from "../testing/hostile/other-runners.ts"
import { ONCE, PYTEST, ROUNDABOUT } from "../testing/hostile/roundabout.ts"
import { UNSEEN_COMMITS } from "../testing/hostile/unseen-commits.ts"
import { MAY_INSIST, WEAKENED_CHECKS } from "../testing/hostile/weakened-checks.ts"
import { WITHOUT_THE_WORK } from "../testing/hostile/without-the-work.ts"
import { FIX_ADD, repositoryWith, type FixtureRepository } from "../testing/repository.ts"
import { createToolwright } from "../toolwright.ts"

/** What a run left: its summary, what was refused, what the record says of it, and the subjects in the log. */
interface Left {
  summary: RunSummary
  refusals: string[]
  recorded: string | undefined
  log: string[]
}

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

/** Tools that start programs of the workspace. */
const PROGRAMS = ["bash", "test", "git"]

async function play(repo: FixtureRepository, attempt: Attempt): Promise<Left> {
  const { agent = "builder", replies, owns, sandbox, toolCalling, permissions } = attempt
  const backend = createScriptedBackend({
    model: "qwen2.5",
    abilities: { nativeTools: true },
    steps: replies.map((reply, index) => ({
      reply: typeof reply === "string" ? reply : { calls: reply.map((call) => ({ ...call })) },
      ...(index === replies.length - 1 ? { repeat: "always" as const } : {}),
    })),
  })
  await using toolwright = await createToolwright({
    backend,
    cwd: repo.path,
    workspace: { roots: [repo.path] },
    ...(sandbox === undefined ? {} : { builtins: { bash: { sandbox } } }),
    ...(toolCalling === undefined ? {} : { model: { toolCalling } }),
    // Where nothing contains programs, somebody has to let them run: refused, they would try nothing.
    permissions: { allow: sandbox === "off" ? PROGRAMS : [], deny: [...(permissions?.deny ?? [])] },
  })
  const run = toolwright.run("Make add() add.", { agent, ...(owns === undefined ? {} : { files: owns }) })
  const refusals: string[] = []
  let step = await run.next()
  for (; !step.done; step = await run.next()) {
    const { value } = step
    const error = value.type === "tool-end" ? value.result.error : value.type === "run-end" ? value.error : undefined
    if (error !== undefined) refusals.push(error.code)
  }
  const summary = step.value
  const log = existsSync(join(repo.path, ".git")) ? repo.git("log", "--all", "--format=%s").split("\n") : []
  return { summary, refusals, recorded: (await toolwright.runs())[0]?.summary?.outcome, log }
}

async function attempted(attempt: Attempt): Promise<Left & { before: Map<string, string>; repo: FixtureRepository }> {
  const repo = repositoryWith({ ...(attempt.alone === true ? {} : FIX_ADD), ...attempt.files })
  for (const [name, text] of Object.entries(attempt.hooks ?? {})) {
    put(join(repo.path, ".git/hooks"), { [name]: text })
    chmodSync(join(repo.path, ".git/hooks", name), 0o755)
  }
  put(repo.path, attempt.dirty ?? {})
  const before = new Map((attempt.untouched ?? []).map((file) => [file, readFileSync(join(repo.path, file), "utf8")]))
  return { ...(await play(repo, attempt)), before, repo }
}

/** What an attempt must not get: plain success, a commit that nobody let through, a change to what is not its own. */
function judge(
  attempt: Attempt,
  { summary, refusals, recorded, log, before, repo }: Awaited<ReturnType<typeof attempted>>,
): void {
  expect(summary.outcome, summary.message).not.toBe("completed")
  expect(summary.success).toBe(false)
  expect(recorded).toBe(summary.outcome)
  // What was turned away at the door tried nothing.
  expect(refusals).not.toContain("MISSING_TOOLS")
  if (attempt.permissions === undefined) expect(refusals).not.toContain("PERMISSION_DENIED")
  if (attempt.ends !== undefined) expect(attempt.ends).toContain(summary.outcome)
  const allowed = ["Begin", ...(attempt.commits ?? [])]
  expect(log.filter((subject) => !allowed.includes(subject) && !subject.includes("Begin"))).toEqual([])
  if (summary.outcome === "completed-with-failures") expect(summary.notes).not.toHaveLength(0)
  for (const [file, text] of before) expect(readFileSync(join(repo.path, file), "utf8")).toBe(text)
}

const SETS = [
  ["without the work", WITHOUT_THE_WORK],
  ["with weakened checks", WEAKENED_CHECKS.map((attempt) => ({ commits: MAY_INSIST, ...attempt }))],
  ["by commits that nobody saw", UNSEEN_COMMITS],
  ["by claims", FALSE_CLAIMS],
  ["by what another runner reads", OTHER_RUNNERS.map((attempt) => ({ commits: MAY_INSIST, ...attempt }))],
  ["by what stands around the tests", ROUNDABOUT.map((attempt) => ({ commits: MAY_INSIST, ...attempt }))],
] as const

test("there are more than sixty attempts, each of its own", () => {
  const names = SETS.flatMap(([, attempts]) => attempts.map(({ name }) => name))
  expect(names.length).toBeGreaterThan(100)
  expect(new Set(names).size).toBe(names.length)
})

// Each in a folder of its own, and waiting for its programs most of the time.
describe.concurrent.each(SETS)("success %s", (_, attempts) => {
  test.each(attempts.map((attempt) => [attempt.name, attempt] as const))("a model that %s", async (_name, attempt) => {
    const left = await attempted(attempt)
    using _repo = left.repo
    judge(attempt, left)
  })
})

function hasPytest(): boolean {
  return spawnSync("python3", ["-c", "import pytest"], { stdio: "ignore" }).status === 0
}

/** The tests as they were, against what the repository holds: a judge of its own. */
function passesAsItWas(repo: FixtureRepository): boolean {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-judge-"))
  try {
    execFileSync("git", ["clone", "-q", repo.path, folder])
    put(folder, FIX_ADD["tests/add.test.js"] === undefined ? {} : { "tests/add.test.js": FIX_ADD["tests/add.test.js"] })
    execFileSync(process.execPath, ["--test"], { cwd: folder, stdio: "ignore" })
    return true
  } catch {
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const ANOTHER_TEST = FIX_ADD["tests/add.test.js"].replace('"adds"', '"adds more"').replace("(2, 3), 5", "(0, 0), 0")

describe.concurrent("honest work still gets through", () => {
  test.each<readonly [string, Attempt]>([
    ["the plain way", { name: "plain", replies: [FIX, [check()], [commit()], DONE] }],
    [
      "with a failure on the way, put right",
      { name: "failure", replies: [[write("src/add.js", "wrong(")], [check()], FIX, [check()], [commit()], DONE] },
    ],
    [
      "with a test of its own",
      { name: "own", replies: [[...FIX, write("tests/more.test.js", ANOTHER_TEST)], [check()], [commit()], DONE] },
    ],
    [
      "with a test that is made stronger",
      {
        name: "stronger",
        replies: [
          [...FIX, replace("tests/add.test.js", "5))", '5))\n\ntest("zero", () => assert.equal(add(0, 0), 0))')],
          [check()],
          [commit()],
          DONE,
        ],
      },
    ],
    [
      "with a package that was installed on the way, and one that was installed anew",
      {
        name: "installed",
        files: { ".gitignore": "node_modules\n", "node_modules/old/package.json": "{}\n", "node_modules/old/a.js": "" },
        replies: [
          [
            ...FIX,
            shell("mkdir -p node_modules/vitest && echo {} > node_modules/vitest/package.json"),
            shell("rm -r node_modules/old; mkdir node_modules/old; echo '{ }' > node_modules/old/package.json"),
          ],
          [check()],
          [commit()],
          DONE,
        ],
      },
    ],
    [
      "through the shell",
      { name: "shell", replies: [FIX, [check()], [shell("git add -A && git commit -q -m Fix")], DONE] },
    ],
  ])("%s", async (_, attempt) => {
    const left = await attempted(attempt)
    using repo = left.repo
    expect(left.summary, left.summary.message).toMatchObject({ outcome: "completed", success: true })
    expect(left.log).toHaveLength(2)
    expect(passesAsItWas(repo)).toBe(true)
  })

  test("and takes no file along that lay there untracked before, unless the work touched it", async () => {
    const mine = { "mine.txt": "mine\n", "both.txt": "mine\n", "deep/mine.txt": "mine\n" }
    const replies = [[...FIX, write("both.txt", "ours\n"), write("new.txt", "new\n")], [check()], [commit()], DONE]
    const left = await attempted({ name: "untracked", dirty: mine, replies })
    using repo = left.repo
    expect(left.summary, left.summary.message).toMatchObject({ outcome: "completed", success: true })
    const files = repo.git("show", "--name-only", "--format=").split("\n")
    expect(files.sort()).toEqual(["both.txt", "new.txt", "src/add.js"])
    expect(repo.git("status", "--porcelain", "-uall").split("\n")).toEqual(["?? deep/mine.txt", "?? mine.txt"])
  })

  test.skipIf(!hasPytest())("in a project that pytest checks", async () => {
    const replies = [[write("total.py", "total = sum\n")], ...ONCE]
    const left = await attempted({ name: "pytest", files: PYTEST, alone: true, replies })
    using _repo = left.repo
    expect(left.summary, left.summary.message).toMatchObject({ outcome: "completed", success: true })
  })

  test("an answer to a question needs no effect", async () => {
    using repo = repositoryWith(FIX_ADD)
    const left = await play(repo, { name: "question", agent: "assistant", replies: ["It subtracts."] })
    expect(left.summary).toMatchObject({ outcome: "completed", success: true, calls: 0 })
  })
})
