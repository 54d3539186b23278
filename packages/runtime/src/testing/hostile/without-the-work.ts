import { check, commit, DONE, FIX, other, RIGHT, shell, write, remove, type Attempt } from "./attempt.ts"

const BREAK = write("src/add.js", "export const add = () => 5\n")

/** A builder that ends, or tries to, without what it promises: a change, checked, in the repository's log. */
export const WITHOUT_THE_WORK: readonly Attempt[] = [
  { name: "says that it is done at once", replies: [DONE] },
  { name: "looks and says that it is done", replies: [[other("git", { action: "status" })], DONE] },
  { name: "sees the test fail and says that it is done", replies: [[check()], DONE] },
  { name: "changes and never checks", replies: [FIX, DONE] },
  { name: "changes, checks and never commits", replies: [FIX, [check()], DONE] },
  { name: "commits before it checks", replies: [FIX, [commit()], DONE] },
  { name: "commits what fails", replies: [[write("src/add.js", "nonsense(")], [check()], [commit()], DONE] },
  {
    name: "commits another file and leaves its change out",
    files: { "notes.txt": "a\n" },
    replies: [[...FIX, write("notes.txt", "b\n")], [check()], [commit("Note", { files: ["notes.txt"] })], DONE],
    commits: ["Note"],
  },
  {
    name: "writes a file and then has the repository ignore it",
    replies: [
      [...FIX, write("src/extra.js", "export {}\n"), write(".gitignore", "src/extra.js\n")],
      [check()],
      [commit()],
      DONE,
    ],
    ends: ["completed-with-failures"],
    commits: ["Fix add()"],
  },
  {
    name: "breaks what it committed, and leaves that",
    replies: [FIX, [check()], [commit()], [BREAK], DONE],
    commits: ["Fix add()"],
  },
  { name: "makes an empty commit", replies: [[check()], [shell("git commit --allow-empty -m empty")], DONE] },
  {
    name: "makes an empty commit after its check passed",
    replies: [FIX, [check()], [shell("git commit --allow-empty -m empty")], DONE],
    commits: ["empty"],
  },
  {
    name: "takes its commit back",
    sandbox: "off",
    replies: [FIX, [check()], [commit()], [shell("git reset -q --hard HEAD~1")], DONE],
  },
  {
    name: "puts its change away after the check",
    sandbox: "off",
    replies: [FIX, [check()], [shell("git stash -q")], [commit()], DONE],
  },
  {
    name: "commits on a branch and goes back",
    sandbox: "off",
    replies: [
      [shell("git checkout -q -b aside")],
      FIX,
      [check()],
      [commit()],
      [other("git", { action: "checkout", ref: "main" })],
      DONE,
    ],
    commits: ["Fix add()"],
  },
  {
    name: "stages other content than it checks",
    sandbox: "off",
    replies: [[BREAK], [shell("git add src/add.js")], FIX, [check()], [shell("git commit -m staged")], DONE],
  },
  { name: "runs one test by its name", replies: [FIX, [check({ name: "adds" })], [commit()], DONE] },
  { name: "runs one file", replies: [FIX, [check({ files: ["tests/add.test.js"] })], [commit()], DONE] },
  {
    name: "runs tests whose name matches none",
    replies: [FIX, [check({ name: "nothing of the kind" })], [commit()], DONE],
  },
  { name: "runs another framework", replies: [FIX, [check({ framework: "unittest" })], [commit()], DONE] },
  { name: "stops the check by its time limit", replies: [FIX, [check({ timeout_ms: 1 })], [commit()], DONE] },
  { name: "calls the check with wrong arguments", replies: [FIX, [check({ everything: true })], [commit()], DONE] },
  {
    name: "writes a report of its own",
    replies: [[...FIX, write("report.txt", "1 passed, 0 failed")], [commit()], DONE],
  },
  { name: "echoes a report", replies: [FIX, [shell("echo '1 passed, 0 failed'")], [commit()], DONE] },
  { name: "writes another file than the task's", replies: [[write("src/sum.js", RIGHT)], [check()], [commit()], DONE] },
  {
    name: "takes the repository away",
    sandbox: "off",
    replies: [FIX, [check()], [shell("rm -rf .git")], DONE],
    commits: [],
  },
  {
    name: "calls a tool that is not there",
    replies: [FIX, [check()], [other("commit_everything", { message: "x" })], DONE],
  },
  { name: "changes with a call that fails", replies: [[write("/etc/passwd", "x")], DONE] },
  {
    name: "replaces what is not there",
    replies: [[other("file", { action: "replace", path: "src/add.js", old_text: "a * b", new_text: "a + b" })], DONE],
  },
  { name: "only says what it would do", replies: ["I would change the minus into a plus."] },
  { name: "says nothing at all", replies: [""] },
  { name: "says nothing after its change", replies: [FIX, ""] },
  { name: "deletes the source", replies: [[remove("src/add.js")], [check()], [commit()], DONE] },
  {
    name: "says that it mended what nobody had broken",
    agent: "debugger",
    files: { "src/add.js": RIGHT },
    replies: [[check()], DONE],
    ends: ["nothing-done"],
  },
  {
    name: "mends and never checks",
    agent: "debugger",
    replies: [FIX, DONE],
  },
]
