import { execFileSync } from "node:child_process"
import { describe, expect, test } from "vitest"
import { callTool } from "@toolwright/host/testing/call-tool"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { createWorkspace } from "@toolwright/host/paths"
import type { JsonObject } from "@toolwright/toolbox"
import { createProcessTools } from "../process-tools.ts"
import { workspaceFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"

const { program } = await probeBubblewrap()

/** What a command says where some paths are kept from tools. */
async function run(fixture: WorkspaceFixture, command: string, denyRead: string[]) {
  const workspace = createWorkspace({ roots: [{ path: fixture.root, access: "read-write" }], denyRead })
  const bash = createProcessTools(workspace).find(({ name }) => name === "bash")!
  const { output, metadata } = await callTool(bash, { command })
  const { hidden_history: hidden } = metadata["sandbox"] as JsonObject
  return { output, hidden }
}

/** What every script has: a repository to begin with, a file of which nothing shall be told, and what takes it away. */
const FUNCTIONS = `
git() { command git -c user.name=Test -c user.email=test@localhost -c init.defaultBranch=main "$@"; }
c() { git commit --quiet --allow-empty --message="$1"; }
lf=$(printf '\\nx'); lf=\${lf%x}
begin() { git init --quiet; echo a > a.txt; git add a.txt; c Begin; }
put() { case $1 in */*) mkdir -p "\${1%/*}";; esac; echo "CANARY in $PWD" > "$1"; git add --force "$1"; }
gone() { git rm -r --quiet --force . ; c Gone; }
kept() { put "$1"; c Kept; gone; }
merging() { git checkout -q -b o; c o; git checkout -q main; c p; git merge -q --no-commit --no-ff o >/dev/null 2>&1; }
loose() { put .env; loose=$(git commit-tree -m x "$(git write-tree)"); git reset --quiet --hard; }
forget() { git reflog expire --expire=all --all; }
`

/** Repositories below the workspace's top: how each comes to hold a file that tools may not read. */
const HOLDING: Readonly<Record<string, string>> = {
  "a folder with a line feed above it": 'begin; kept "a$lf""b/.env"',
  "a folder that ends with one": 'begin; kept "a$lf""/x/.env"',
  "a name that begins with one": 'begin; kept "$lf"".env"',
  "a place with one": 'begin; kept "a$lf""private/f"',
  "a place in a folder with one": 'begin; kept "x$lf""y/private/f"',
  "a tab, a quote and a backslash too": `begin; kept "x\ty'\\"\\\\é$lf""/.env"`,
  "what a merge brought": "begin; merging; kept .env",
  "what a merge brought, with a line feed": 'begin; merging; kept "x$lf""/.env"',
  "a tree that a tag names": 'begin; put "x$lf""/.env"; git tag -a -m x t "$(git write-tree)"; git reset -q --hard',
  "a tag of a tag of a tree":
    "begin; put x/.env; git tag -a -m x t $(git write-tree); git tag -a -m x u t; git tag -d t >/dev/null; " +
    "git reset -q --hard",
  FETCH_HEAD: `begin; loose; printf "%s\\t\\tbranch 'x' of y\\n" "$loose" > .git/FETCH_HEAD`,
  MERGE_HEAD: 'begin; loose; echo "$loose" > .git/MERGE_HEAD',
  ORIG_HEAD: 'begin; loose; echo "$loose" > .git/ORIG_HEAD',
  "the index alone": "begin; put .env",
  "the index of another working tree": "begin; git worktree add -q w; cd w; put .env",
  "a damaged index": "begin; put .env; echo DIRCnothing > .git/index",
  "a commit beside one whose tree is missing":
    "begin; put .env; c Kept; git rm -q .env; echo b > b; git add b; c Gone; t=$(git rev-parse HEAD^{tree}); " +
    'rm -f ".git/objects/$(echo $t | cut -c1-2)/$(echo $t | cut -c3-)"',
  "what a list says is no parent": "begin; kept .env; forget; git rev-parse HEAD > .git/info/grafts",
  "what was replaced": "begin; put .env; c Kept; git replace --graft HEAD; gone; git replace --graft HEAD; forget",
  "a repository without a working tree": "begin; kept .env; git clone -q --bare . ../bare.git; rm -rf .git .env",
  "borrowed objects":
    "begin; kept .env; git repack -adq; mv .git/objects store; mkdir -p .git/objects/info; " +
    "echo ../../store > .git/objects/info/alternates",
  "objects beside borrowed ones that lie elsewhere":
    "begin; kept .env; echo /var/lib/x/objects > .git/objects/info/alternates",
  "a configuration that is too long": "begin; kept .env; head -c 2000000 /dev/zero | tr '\\0' '#' >> .git/config",
  "a module that is not checked out":
    "begin; mkdir s; cd s; begin; kept .env; cd ..; git -c protocol.file.allow=always submodule --quiet add ./s m; " +
    "c Module; rm -rf s m",
}

/** What holds no such file, in every way that a repository may be kept. */
const ORDINARY: Readonly<Record<string, string>> = {
  "no commit": "git init --quiet",
  "a merge": "begin; merging; put x/f; c Merged; gone",
  "tags of trees and of contents": "begin; git tag t HEAD^{tree}; git tag b HEAD:a.txt; git tag -a -m x u t",
  "a shallow clone": 'begin; c Two; git clone -q --depth 1 "file://$PWD" s; mv .git old; mv s/.git .git; rm -rf s old',
  "one that lacks old contents":
    "begin; echo b > a.txt; git add .; c Two; git config uploadpack.allowfilter true; " +
    'git clone -q --filter=blob:none "file://$PWD" s; rm -rf .git',
  "another working tree": "begin; git worktree add -q w; cd w; echo b > b; git add b",
  "no branch": "begin; git checkout -q --detach; c Two; git checkout -q main 2>/dev/null",
  "an unfinished merge": "begin; merging",
  "a module": "begin; mkdir s; (cd s; begin); git -c protocol.file.allow=always submodule --quiet add ./s m; c Module",
  "packed refs": "begin; git pack-refs --all; git gc -q",
}

/** Ways to ask each of them, from its own folder. */
const ASKED = [
  "git cat-file --batch-all-objects --batch",
  "git log --all --reflog -m -p",
  "GIT_OBJECT_DIRECTORY=$PWD/.git/modules/m/objects git cat-file --batch-all-objects --batch",
  "GIT_OBJECT_DIRECTORY=$PWD/store git log -p",
]

const DENIED = [".env", "\n.env", "*a\nprivate/**", "*/x\ny/private/**"]

function inFolders(fixture: WorkspaceFixture, scripts: Readonly<Record<string, string>>): void {
  const lines = Object.values(scripts).map((script, at) => `(mkdir r${at}; cd r${at}; ${script})`)
  const script = `set -e\n${FUNCTIONS}\n${lines.join("\n")}`
  execFileSync("sh", ["-c", script], { cwd: fixture.root, stdio: ["ignore", "pipe", "pipe"] })
}

describe.skipIf(program === undefined)("what repositories in the workspace keep of protected files", () => {
  test("is told by no command, however each comes to hold it", async () => {
    using fixture = workspaceFixture()
    inFolders(fixture, HOLDING)
    const each = ASKED.map((command) => `(${command})`).join("; ")
    const asked = `for r in r* bare.git; do cd "$r"; echo "== $r"; ${each}; cd ..; done 2>&1`
    const all = `${asked} | tr -d '\\0' | grep -a '^==\\|CANARY'`
    const { output } = await run(fixture, all, DENIED)
    const told = output.split("== ").filter((part) => part.includes("CANARY"))
    const names = Object.keys(HOLDING)
    expect(told.map((part) => names[Number(/^r(\d+)/u.exec(part)?.[1])] ?? part)).toEqual([])
    expect(output.match(/^== /gmu)).toHaveLength(names.length + 1)
  })

  test("is asked again for other rules", async () => {
    using fixture = workspaceFixture()
    inFolders(fixture, { plain: "begin; put q/f; c Kept" })
    const told = []
    for (const rule of [".env", "q", ".env"])
      told.push((await run(fixture, "git -C r0 show HEAD:q/f", [rule])).output.includes("CANARY"))
    expect(told).toEqual([true, false, true])
  })

  test("hides no repository that holds nothing of the kind", async () => {
    using fixture = workspaceFixture()
    inFolders(fixture, ORDINARY)
    const { output, hidden } = await run(fixture, 'for r in r*; do git -C "$r" log --oneline; done', DENIED)
    expect(hidden).toBeUndefined()
    expect(output).not.toContain("protected")
  })

  test("is named where it may be, with what it is called", async () => {
    using named = workspaceFixture()
    inFolders(named, { named: 'begin; kept "a$lf""b/.env"' })
    const { output, hidden } = await run(named, "git -C r0 log", DENIED)
    expect(hidden).toEqual(["r0/a\nb/.env"])
    expect(output).toContain("its history holds protected files (r0/a\\u000ab/.env)")
    using damaged = workspaceFixture()
    inFolders(damaged, { damaged: "begin; echo DIRCnothing > .git/index" })
    const other = await run(damaged, "git -C r0 log", DENIED)
    expect(other.hidden).toEqual([])
    expect(other.output).toContain("what its history holds of protected files could not be found out")
  })
})
