import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import type { JsonObject } from "@toolwright/toolbox"
import { callTool } from "@toolwright/host/testing/call-tool"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { GIT_SPELLINGS, gitKeys } from "../testing/git-keys.ts"
import { preparedFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"

const ACTIONS: readonly JsonObject[] = [
  { action: "status" },
  { action: "diff" },
  { action: "add", files: ["a.txt", "b.txt"] },
  { action: "add", files: ["."] },
  { action: "diff", staged: true },
  { action: "commit", message: "x" },
  { action: "log" },
  { action: "create_branch", branch: "side" },
  { action: "checkout", ref: "main" },
  { action: "push" },
]
/** Those that come by every part of a repository; in the sandbox, which holds by itself, they stand for all. */
const SOME = ACTIONS.filter(({ action, files, staged }) =>
  action === "add"
    ? files?.toString() === "."
    : ["status", "diff", "commit", "push"].includes(String(action)) && !staged,
)
const STATES = (await probeBubblewrap()).program === undefined ? (["off"] as const) : (["auto", "off"] as const)

let cases = 0
let generated = 0
afterAll(() => {
  console.log(`git: ${cases} hostile cases (configurations and layouts × actions × sandbox states)`)
  console.log(`git: ${generated} of them generated (keys × spellings × actions × sandbox states)`)
})

function repository(sandbox: "auto" | "off"): WorkspaceFixture {
  const prepare = (fixture: WorkspaceFixture): void => {
    fixture.write({ "a.txt": "a\n", "README.md": "one\n" })
    fixture.gits(
      ["init", "--quiet"],
      ["config", "user.name", "Test"],
      ["config", "user.email", "test@localhost"],
      ["add", "."],
      ["commit", "--quiet", "--message=Begin"],
      ["remote", "add", "origin", "https://127.0.0.1:9/x.git"],
    )
  }
  return preparedFixture("repository", prepare, { sandbox })
}

/** Somebody's repository beside the workspace. */
function repositoryElsewhere(root: string): string {
  const elsewhere = join(root, "../elsewhere")
  using made = preparedFixture("elsewhere", (fixture) => {
    fixture.write({ "a.txt": "CANARY\n" })
    fixture.gits(
      ["init", "--quiet"],
      ["add", "."],
      ["-c", "user.name=CANARY", "-c", "user.email=c@localhost", "commit", "--quiet", "--message=CANARY"],
    )
  })
  renameSync(made.root, elsewhere)
  return elsewhere
}

/** A program that leaves a mark inside the workspace, where a sandboxed one could leave it too. */
function trap(fixture: WorkspaceFixture, name: string): string {
  const script = join(fixture.root, "..", `trap-${name.replace(/\W/gu, "-")}.sh`)
  writeFileSync(script, `#!/bin/sh\necho '${name}' >> '${join(fixture.root, "ran")}'\ncat\n`)
  chmodSync(script, 0o755)
  return script
}

/** Every action, each followed by a look at what ran. */
async function nothingRuns(fixture: WorkspaceFixture, names: number, sandbox: string): Promise<void> {
  for (const args of sandbox === "off" ? ACTIONS : SOME) {
    await callTool(fixture.tools.get("git")!, args)
    cases += names
    const ran = join(fixture.root, "ran")
    expect(existsSync(ran) ? `${JSON.stringify(args)}: ${readFileSync(ran, "utf8")}` : "nothing ran").toBe(
      "nothing ran",
    )
  }
  await callTool(fixture.tools.get("get_local_git_changes_info")!, {})
  expect(existsSync(join(fixture.root, "ran"))).toBe(false)
}

/** Settings that name programs, by group: those of one group do not keep each other from being read. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  core: ["core.fsmonitor", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "core.alternateRefsCommand"],
  transport: ["core.sshCommand", "remote.origin.uploadpack", "remote.origin.receivepack", "remote.origin.vcs"],
  credentials: ["credential.helper", "credential.https://127.0.0.1:9.helper", "http.proxy", "http.cookieFile"],
  filters: ["filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.e=v=il.clean"],
  drivers: ["diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "diff.external", "interactive.diffFilter"],
  signing: ["gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.ssh.defaultKeyCommand"],
  aliases: ["alias.status", "alias.commit", "alias.log", "alias.add"],
  pagers: ["pager.status", "pager.diff", "pager.log", "pager.commit"],
  commit: ["sequence.editor", "trailer.x.command", "trailer.x.cmd", "browser.evil.cmd", "man.evil.cmd"],
  submodules: ["submodule.sub.update", "submodule.alternateErrorStrategy", "fetch.recurseSubmodules"],
}

describe.for(STATES)("a hostile repository, sandbox %s", (sandbox) => {
  test.for(Object.keys(PROGRAMS))("starts no program: %s", async (group) => {
    using fixture = repository(sandbox)
    const signing = ["commit.gpgSign", "push.gpgSign", "tag.gpgSign", "log.showSignature"]
    fixture.gits(
      ...PROGRAMS[group]!.map((key) => ["config", key, trap(fixture, key)]),
      ...(group === "signing" ? signing.map((key) => ["config", key, "true"]) : []),
    )
    fixture.write({ ".gitattributes": "*.txt filter=evil diff=evil merge=evil\n*.md filter=e=v=il\n" })
    fixture.write({ "a.txt": "changed\n", "b.txt": "new\n", "README.md": "changed\n" })
    await nothingRuns(fixture, PROGRAMS[group]!.length, sandbox)
  })

  const keys = gitKeys()
  const actions = sandbox === "off" ? ACTIONS.length : SOME.length
  const ways = Object.keys(GIT_SPELLINGS).map((way) => ({ keys: keys.length, way, actions }))
  test.for(ways)("starts no program by $keys keys written $way, in $actions actions", async ({ way }) => {
    using fixture = repository(sandbox)
    const program = trap(fixture, "generated")
    const folder = join(fixture.root, "hooks")
    mkdirSync(folder)
    for (const name of ["pre-commit", "post-checkout", "pre-push", "post-index-change", "reference-transaction"])
      symlinkSync(program, join(folder, name))
    const text = keys.map((key) =>
      GIT_SPELLINGS[way]!(key, key.name === "hooksPath" || key.name === "templateDir" ? folder : program),
    )
    appendFileSync(join(fixture.root, ".git/config"), text.join(""))
    fixture.write({
      ".gitattributes": "*.txt filter=evil diff=evil merge=evil\n",
      "a.txt": "changed\n",
      "b.txt": "new\n",
    })
    await nothingRuns(fixture, keys.length, sandbox)
    generated += keys.length * actions
  })

  const PLACES: Readonly<Record<string, (fixture: WorkspaceFixture, text: string) => void>> = {
    "an include": (fixture, text) => {
      writeFileSync(join(fixture.root, ".git/more"), text)
      fixture.git("config", "include.path", "more")
    },
    "a conditional include": (fixture, text) => {
      writeFileSync(join(fixture.root, ".git/more"), text)
      fixture.git("config", `includeIf.gitdir:${fixture.root}/.path`, "more")
    },
    "the working tree's own file": (fixture, text) => {
      fixture.git("config", "extensions.worktreeConfig", "true")
      writeFileSync(join(fixture.root, ".git/config.worktree"), text)
    },
    "another spelling": (fixture, text) =>
      appendFileSync(
        join(fixture.root, ".git/config"),
        `\uFEFF${text.toUpperCase().replaceAll(/= .*/gu, "")}\r\n${text}`,
      ),
    "a long file": (fixture, text) =>
      appendFileSync(join(fixture.root, ".git/config"), `${"# filler\n".repeat(200_000)}${text}`),
    "many sections": (fixture, text) =>
      appendFileSync(join(fixture.root, ".git/config"), `${'[filter "x"]\n\tclean = no\n'.repeat(20_000)}${text}`),
    "a shared folder elsewhere": (fixture, text) => {
      execFileSync("cp", ["-r", join(fixture.root, ".git"), join(fixture.root, "planted")])
      appendFileSync(join(fixture.root, "planted/config"), text)
      writeFileSync(join(fixture.root, ".git/commondir"), "../planted\n")
    },
    "a .git file": (fixture, text) => {
      renameSync(join(fixture.root, ".git"), join(fixture.root, "planted"))
      appendFileSync(join(fixture.root, "planted/config"), text)
      writeFileSync(join(fixture.root, ".git"), "gitdir: planted\n")
    },
    "a submodule": (fixture, text) => {
      execFileSync("git", ["clone", "--quiet", fixture.root, join(fixture.root, "sub")], { stdio: "ignore" })
      appendFileSync(join(fixture.root, "sub/.git/config"), text)
      fixture.git("-c", "advice.addEmbeddedRepo=false", "add", "sub")
      fixture.write({
        ".gitmodules": '[submodule "sub"]\n\tpath = sub\n\turl = ./x\n\tignore = none\n\tupdate = !sh\n',
      })
      fixture.write({ "sub/a.txt": "changed\n" })
    },
  }

  test.for(Object.keys(PLACES))("starts no program that is named in %s", async (place) => {
    using fixture = repository(sandbox)
    const [monitor, clean, hook] = ["fsmonitor", "clean", "pre-commit"].map((name) => trap(fixture, name))
    mkdirSync(join(fixture.root, "hooks"))
    for (const name of ["pre-push", "post-checkout", "post-index-change", "reference-transaction"])
      symlinkSync(hook!, join(fixture.root, "hooks", name))
    PLACES[place]!(
      fixture,
      `\n[core]\n\tfsmonitor = ${monitor}\n\thooksPath = ${join(fixture.root, "hooks")}\n\taskPass = ${monitor}\n` +
        `[filter "evil"]\n\tclean = ${clean}\n\tsmudge = ${clean}\n[diff]\n\texternal = ${clean}\n`,
    )
    fixture.write({ ".gitattributes": "*.txt filter=evil\n", "a.txt": "changed\n", "b.txt": "new\n" })
    await nothingRuns(fixture, 5, sandbox)
  })

  /** Ways in which a repository reaches out of the workspace; `elsewhere` is somebody's repository beside it. */
  const LAYOUTS: Readonly<Record<string, (dotGit: string, elsewhere: string) => void>> = {
    "a .git file": (dotGit, elsewhere) => {
      rmSync(dotGit, { recursive: true })
      writeFileSync(dotGit, `gitdir: ${elsewhere}\n`)
    },
    "a relative .git file": (dotGit) => {
      rmSync(dotGit, { recursive: true })
      writeFileSync(dotGit, "gitdir: ../elsewhere/.git\n")
    },
    "a .git file to a link": (dotGit, elsewhere) => {
      rmSync(dotGit, { recursive: true })
      symlinkSync(elsewhere, join(dotGit, "../link"))
      writeFileSync(dotGit, "gitdir: link\n")
    },
    "a link": (dotGit, elsewhere) => {
      rmSync(dotGit, { recursive: true })
      symlinkSync(elsewhere, dotGit)
    },
    "a shared folder": (dotGit, elsewhere) => writeFileSync(join(dotGit, "commondir"), `${elsewhere}\n`),
    "borrowed objects": (dotGit, elsewhere) =>
      writeFileSync(join(dotGit, "objects/info/alternates"), `${elsewhere}/objects\n`),
    "objects borrowed by what is borrowed": (dotGit, elsewhere) => {
      mkdirSync(join(dotGit, "../store/info"), { recursive: true })
      writeFileSync(join(dotGit, "objects/info/alternates"), "../../store\n")
      writeFileSync(join(dotGit, "../store/info/alternates"), `${elsewhere}/objects\n`)
    },
    "linked objects": (dotGit, elsewhere) => {
      rmSync(join(dotGit, "objects"), { recursive: true })
      symlinkSync(join(elsewhere, "objects"), join(dotGit, "objects"))
    },
    "linked refs": (dotGit, elsewhere) => {
      rmSync(join(dotGit, "refs"), { recursive: true })
      symlinkSync(join(elsewhere, "refs"), join(dotGit, "refs"))
    },
    "a linked index": (dotGit, elsewhere) => {
      rmSync(join(dotGit, "index"))
      symlinkSync(join(elsewhere, "index"), join(dotGit, "index"))
    },
    "a linked commit message": (dotGit, elsewhere) => {
      rmSync(join(dotGit, "COMMIT_EDITMSG"), { force: true })
      symlinkSync(join(elsewhere, "description"), join(dotGit, "COMMIT_EDITMSG"))
    },
    "a linked configuration": (dotGit, elsewhere) => {
      rmSync(join(dotGit, "config"))
      symlinkSync(join(elsewhere, "config"), join(dotGit, "config"))
    },
    "a forged return": (dotGit, elsewhere) => {
      mkdirSync(join(elsewhere, "worktrees/x"), { recursive: true })
      writeFileSync(join(elsewhere, "worktrees/x/commondir"), "../..\n")
      writeFileSync(join(elsewhere, "worktrees/x/gitdir"), "/somewhere/else/.git\n")
      rmSync(dotGit, { recursive: true })
      writeFileSync(dotGit, `gitdir: ${elsewhere}/worktrees/x\n`)
    },
    "a FIFO as configuration": (dotGit) => fifo(join(dotGit, "config")),
    "a FIFO as index": (dotGit) => fifo(join(dotGit, "index")),
    "a FIFO as HEAD": (dotGit) => fifo(join(dotGit, "HEAD")),
    "a FIFO as .git": (dotGit) => fifo(dotGit),
    "a device as configuration": (dotGit) => {
      rmSync(join(dotGit, "config"))
      symlinkSync("/dev/zero", join(dotGit, "config"))
    },
  }

  test.for(Object.keys(LAYOUTS))("reaches nothing outside the workspace by %s", async (way) => {
    using fixture = repository(sandbox)
    const elsewhere = repositoryElsewhere(fixture.root)
    LAYOUTS[way]!(join(fixture.root, ".git"), join(elsewhere, ".git"))
    const state = () =>
      readdirSync(elsewhere, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => `${join(parentPath, name)}: ${readFileSync(join(parentPath, name), "base64")}`)
        .sort()
        .join("\n")
    const before = state()
    fixture.write({ "a.txt": "changed\n" })
    for (const args of SOME) {
      const result = await callTool(fixture.tools.get("git")!, args)
      cases++
      expect(JSON.stringify(result)).not.toContain("CANARY")
      expect(result.error?.code).not.toBe("TIMEOUT")
      expect(state()).toBe(before)
    }
  })
})

test("the traps are ones: git itself starts them, however they are written", () => {
  for (const [way, spelt] of Object.entries(GIT_SPELLINGS)) {
    if (way === "as a command of the shell") continue
    using fixture = repository("off")
    const program = trap(fixture, "control")
    appendFileSync(
      join(fixture.root, ".git/config"),
      spelt({ section: "filter", part: "evil", name: "clean" }, program),
    )
    fixture.write({ ".gitattributes": "*.txt filter=evil\n", "a.txt": "changed\n" })
    fixture.git("add", "a.txt")
    expect([way, existsSync(join(fixture.root, "ran"))]).toEqual([way, true])
  }
})

test.each([
  ["too long", "# filler\n".repeat(200_000)],
  ["not to be parsed", "\n[core\n\tbare = false\n"],
])("a configuration that is %s is refused", async (_, text) => {
  using fixture = repository("off")
  appendFileSync(join(fixture.root, ".git/config"), text)
  for (const args of SOME)
    expect(await callTool(fixture.tools.get("git")!, args)).toMatchObject({
      success: false,
      error: { code: "REPOSITORY_REFUSED" },
    })
})

function fifo(path: string): void {
  rmSync(path, { recursive: true })
  execFileSync("mkfifo", [path])
}
