import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { callTool } from "@toolwright/host/testing/call-tool"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { preparedFixture, workspaceFixture, type WorkspaceFixture } from "../testing/workspace-fixture.ts"

/** Much that people allow, and that can start others; `touch`, `tee` and `cp` are not among it. */
const ALLOWED = (
  "ls cat echo grep head tail wc git find xargs env sh bash sed awk tar sort timeout nice nohup setsid stdbuf " +
  "time command rg date " +
  "ionice less man vim ssh busybox eval exec source . zip printf mkdir split install export /usr/bin/find"
).split(" ")
const sandboxed = (await probeBubblewrap()).program !== undefined

/** Ways to have `touch MARK` done, each by what is allowed; `$M` stands for the file. */
const SPELLINGS: readonly string[] = [
  ..."env nice nohup setsid command timeout:5 stdbuf:-oL exec eval time busybox xargs ionice builtin"
    .split(" ")
    .flatMap((launcher) => [`${launcher.replace(":", " ")} touch $M`, `ls | ${launcher.replace(":", " ")} touch $M`]),
  "env -i touch $M",
  "env -u ls touch $M",
  "env -S 'touch $M'",
  "env -C . touch $M",
  "env A=1 touch $M",
  "env PATH=. ls",
  "env LD_PRELOAD=./x.so ls",
  "nice -n 5 touch $M",
  "nice env nice touch $M",
  "timeout -s KILL 5 touch $M",
  "timeout --signal ls 5 touch $M",
  "xargs -I ls touch $M",
  "echo $M | xargs touch",
  "echo $M | xargs -n 1 touch",
  "echo touch $M | xargs env",
  "echo $M | xargs -a /dev/stdin touch",
  "find . -maxdepth 0 -exec touch $M ;",
  "find . -maxdepth 0 -exec touch $M \\;",
  "find . -maxdepth 0 -execdir touch $M \\;",
  "find . -maxdepth 0 -exec env touch $M \\;",
  "find . -maxdepth 0 -exec sh -c 'touch $M' \\;",
  "find . -maxdepth 0 -fprint $M",
  "x=-exec; find . -maxdepth 0 $x touch $M \\;",
  "find . -maxdepth 0 -ex*",
  "sh -c 'touch $M'",
  'bash -c "touch $M"',
  "sh -c 'ls; touch $M'",
  "sh -c 'sh -c \"touch $M\"'",
  "sh -ec 'touch $M'",
  "sh script",
  "sh < script",
  "cat script | sh",
  "echo touch $M | bash -s",
  "bash --rcfile script -ic ls",
  ". ./script",
  "source script",
  "sed -n '1e touch $M' a.txt",
  "sed 's/a/touch $M/e' a.txt",
  "sed 's/.*/x/w $M' a.txt",
  "sed -e '1!G;h;$!d;w $M' a.txt",
  "sed -f script a.txt",
  "sed --expression='1e touch $M' a.txt",
  "awk 'BEGIN { system(\"touch $M\") }'",
  "awk 'BEGIN { print 1 | \"touch $M\" }'",
  "awk 'BEGIN { print 1 > \"$M\" }'",
  "awk 'BEGIN { \"touch $M\" | getline }'",
  "awk -f script",
  "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='touch $M' a.txt",
  "tar -cf /dev/null --checkpoint=1 --checkpoint-a=exec='touch $M' a.txt",
  "tar -cf x.tar -I 'touch $M' a.txt",
  "tar -cf x.tar --use-compress-program='touch $M' a.txt",
  "tar -cf /dev/null *",
  "tar -cf /dev/null ?*",
  "sort --compress-program='touch $M' a.txt",
  "sort -o $M a.txt",
  "rg --pre ./script a a.txt",
  "rg --pre=./script a a.txt",
  "rg --hostname-bin ./script a a.txt",
  "zip x.zip a.txt -TT 'touch $M'",
  "git -c alias.x='!touch $M' x",
  "git -c core.fsmonitor='touch $M' status",
  "git --config-env=core.pager=X log",
  "git --exec-path=. x",
  "git -c core.pager='touch $M' -p log",
  "git grep -O'touch $M' a",
  "git grep --open-files-in-pager='touch $M' a",
  "git bisect run touch $M",
  "git rebase -x 'touch $M' HEAD~1",
  "git submodule foreach 'touch $M'",
  "git difftool -x 'touch $M' -y HEAD",
  "git config alias.x '!touch $M'; git x",
  "git clone --upload-pack='touch $M' . x",
  "git ls-remote --upload-pack='touch $M' .",
  "git archive --exec='touch $M' --remote=. HEAD",
  "git fetch --upload-pack 'touch $M' .",
  "git fetch 'ext::sh -c touch% $M'",
  "git filter-branch -f --tree-filter 'touch $M'",
  "git log --output=$M",
  "git diff --output=$M",
  "git init --template=. ../planted; ls",
  "git -C . -c alias.x='!touch $M' x",
  "GIT_SSH_COMMAND='touch $M' git fetch ssh://x/y",
  "GIT_EXTERNAL_DIFF='touch $M' git diff HEAD",
  "PAGER='touch $M' git -p log",
  "BROWSER='touch $M' git help -w",
  "EDITOR='touch $M' git commit --allow-empty",
  "&> ls touch $M",
  "&>> ls touch $M",
  ">\tls touch $M",
  "> ls touch $M",
  "2>ls touch $M",
  ">| ls touch $M",
  "< a.txt touch $M",
  "ls > $M",
  "echo x > ../marked",
  "echo x > .git/hooks/pre-commit; git commit --allow-empty -m x",
  "echo x >> ~/marked",
  "echo x > $HOME/marked",
  "cd ..; echo x > marked",
  "cd -; echo x > marked",
  "cd; echo x > marked",
  "cd $PWD/..; echo x > marked",
  "echo --pre=./script a a.txt | xargs rg",
  "[ -v 'a[$(touch $M)]' ]",
  "test -v 'a[$(touch $M)]'",
  "[ -R 'a[$(touch $M)]' ]",
  "printf -v 'a[$(touch $M)]' x",
  "x=touch; $x $M",
  "t*ch $M",
  "{ touch,$M; }",
  "{touch,$M}",
  "to\\\nuch $M",
  "t''ouch $M",
  'to""uch $M',
  "ls && touch $M",
  "ls || touch $M",
  "ls & touch $M",
  "ls\ntouch $M",
  "ls;touch $M",
  "ls|touch $M",
  "ls $(touch $M)",
  "ls `touch $M`",
  "ls <(touch $M)",
  "ls ${x:-$(touch $M)}",
  "ls $((a[$(touch $M)]))",
  "cat <<< $(touch $M)",
  "cat <<x\n$(touch $M)\nx",
  "if ls; then touch $M; fi",
  "while touch $M; do break; done",
  "case x in x) touch $M;; esac",
  "f() { touch $M; }; f",
  "(touch $M)",
  "! touch $M",
  "time touch $M",
  "coproc touch $M",
  "[[ -n $(touch $M) ]]",
  "alias ls=touch; ls $M",
  "ls=touch; ls $M",
  "PATH=. ls",
  "x=1 touch $M",
  "/usr/bin/touch $M",
  "./script",
  "less script",
  "man -P 'touch $M' ls",
  "vim -c '!touch $M' -c q",
  "vim -es -c ':!touch $M' -c q",
  "ssh -o ProxyCommand='touch $M' x",
  "date; touch $M",
  'find . -maxdepth 0 "-ex\\\nec" touch $M ";"',
  "echo x > -exec; find . -maxdepth 0 -ex[e]c touch $M ';'",
  "echo x > -exec; find . -maxdepth 0 ''-ex*c touch $M ';'",
  "find nested -maxdepth 1 -name .git -execdir git status ';'",
  "/usr/bin/find . -maxdepth 0 -exec touch $M ';'",
  "env /usr/bin/find . -maxdepth 0 -exec touch $M ';'",
  "export PATH=.; ls",
  "cd -P ..; echo x > marked",
  "cd -- ..; echo x > marked",
  'cd "..\\\n"; echo x > marked',
  'echo x > "..\\\n/marked"',
  "echo x > out/marked",
  "echo x > gone",
  "cd out; echo x > marked",
  "cd a; echo x > out/marked",
  "echo x > 's,a,b,;1e touch marked;echo ,'; sed s,a,*, a.txt",
  "echo x > '{print}BEGIN{system(\"touch marked\")}'; awk '{print}'* a.txt",
  "tar cIf 'touch marked' x.tar a.txt",
  "tar -cf 'x@-oProxyCommand=touch $M:y' a.txt",
  "split --filter='touch $M' a.txt",
  "install -s --strip-program=./script a.txt made",
  'git log "--out\\\nput=$M"',
  "echo x > --output=marked; git log --outpu[t]*",
  "git init --sep=g made; echo '[core]' > g/config; echo 'fsmonitor=\"touch $M;false\"' >> g/config; cd made; git status",
  "mkdir -p m/objects m/refs; cd m; echo 'ref: refs/heads/x' > HEAD; echo '[core]' > config; echo 'bare=false' >> config; " +
    "echo 'repositoryformatversion=0' >> config; echo 'worktree=.' >> config; " +
    "echo 'fsmonitor=\"touch $M;false\"' >> config; git status",
  "cd nested; git status",
  "sh -c 'cd nested; git status'",
  "cd nested && timeout 5 git status",
  "cd nested; find . -maxdepth 0 -exec git status ';'",
  "cd embedded; git status",
  "echo '[core]' >> link/config; echo 'fsmonitor=\"touch $M;false\"' >> link/config; git status",
  "printf ':!touch marked\\n:q!\\n' | git commit --allow-empty --amend",
]

let cases = 0
afterAll(() => console.log(`bash: ${cases} cases (spellings × sandbox states)`))

/** The sandbox holds one spelling as it holds another: every fourth shows it. */
const STATES = [
  ...(sandboxed ? [["auto", SPELLINGS.filter((_, index) => index % 4 === 0)] as const] : []),
  ["off", SPELLINGS] as const,
]

/** A repository, and what may come with one: links out of it, and repositories in it that start programs. */
function furnish(fixture: WorkspaceFixture): void {
  fixture.write({ "a.txt": "a\nb\n", "a/x.txt": "x\n" })
  const config = (folder: string, key: string, value: string): string[] => ["-C", folder, "config", key, value]
  const monitor = "touch ../marked; false"
  fixture.gits(
    ["init", "--quiet"],
    ["add", "a.txt"],
    ["commit", "--quiet", "--message=Begin"],
    ["init", "--quiet", "nested"],
    config("nested", "core.fsmonitor", monitor),
    ["init", "--quiet", "--bare", "embedded"],
    config("embedded", "core.bare", "false"),
    config("embedded", "core.worktree", "."),
    config("embedded", "core.fsmonitor", monitor),
  )
  symlinkSync("..", join(fixture.root, "out"))
  symlinkSync("../..", join(fixture.root, "a/out"))
  symlinkSync("../marked", join(fixture.root, "gone"))
  symlinkSync(".git", join(fixture.root, "link"))
}

function repository(sandbox: "auto" | "off"): WorkspaceFixture {
  const prepare = furnish
  return preparedFixture("repository", prepare, { sandbox, bash: { allow: ALLOWED }, passEnvironment: [NO_PAUSE] })
}

/** Without it git says for ten seconds what it thinks of `filter-branch`, and has not begun when its time is over. */
const NO_PAUSE = "FILTER_BRANCH_SQUELCH_WARNING"
beforeAll(() => void vi.stubEnv(NO_PAUSE, "1"))
afterAll(() => void vi.unstubAllEnvs())

/** An editor that has done what it was told waits for a key that nobody presses. */
const timeoutOf = (spelling: string): number => (spelling.startsWith("vim") ? 3000 : 10_000)

describe.for(STATES)("an allow list, sandbox %s", ([sandbox, spellings]) => {
  test.for(spellings)("is not passed by %j", async (spelling) => {
    using fixture = repository(sandbox)
    const mark = join(fixture.root, "../marked")
    const inside = join(fixture.root, "marked")
    writeFileSync(join(fixture.root, "script"), `touch ${mark} ${inside}\n`, { mode: 0o755 })
    symlinkSync("/usr/bin/touch", join(fixture.root, "ls"))
    writeFileSync(join(fixture.root, "--checkpoint=1"), "")
    writeFileSync(join(fixture.root, "--checkpoint-action=exec=sh script"), "")
    // In a sandbox an allowed program may start others, and what holds it is that it reaches nothing outside.
    const target = sandbox === "off" ? inside : mark
    await callTool(fixture.tools.get("bash")!, {
      command: spelling.replaceAll("$M", target),
      timeout_ms: timeoutOf(spelling),
    })
    cases++
    expect(existsSync(mark)).toBe(false)
    if (sandbox === "off") expect(readdirSync(fixture.root)).not.toContain("marked")
  })
})

test.for(["git status", "git diff", "git add .", "sh -c 'git status'"])(
  "an allow list without a sandbox: a repository below that git asks for its changes starts nothing by %j",
  async (command) => {
    using fixture = workspaceFixture({}, { sandbox: "off", bash: { allow: ALLOWED } })
    furnish(fixture)
    const quiet = ["-c", "core.fsmonitor=false"]
    fixture.gits(
      ["-C", "nested", ...quiet, "commit", "--quiet", "--allow-empty", "--message=x"],
      [...quiet, "add", "nested"],
    )
    fixture.write({ "nested/new.txt": "" })
    rmSync(join(fixture.root, "marked"), { force: true })
    await callTool(fixture.tools.get("bash")!, { command })
    expect(existsSync(join(fixture.root, "marked"))).toBe(false)
    // The trap is one: a git that nothing holds starts it.
    fixture.git("status")
    expect(existsSync(join(fixture.root, "marked"))).toBe(true)
  },
)

/** What may stand around a spelling, on other lines or as other commands of the same line. */
const SURROUNDINGS = ["ls; $X", "cd . && $X", "LANG=C ls -la\n$X", "$X # ls", "ls a.txt | cat; $X"]

describe("an allow list without a sandbox", () => {
  test.for(SURROUNDINGS)(
    `is passed by none of ${SPELLINGS.length} spellings within %j`,
    { timeout: 300_000 },
    async (around) => {
      using fixture = workspaceFixture({}, { sandbox: "off", bash: { allow: ALLOWED } })
      const mark = join(fixture.root, "../marked")
      const inside = join(fixture.root, "marked")
      writeFileSync(join(fixture.root, "script"), `touch ${mark} ${inside}\n`, { mode: 0o755 })
      furnish(fixture)
      const bash = fixture.tools.get("bash")!
      const passed: string[] = []
      for (const spelling of SPELLINGS) {
        const command = around.replace("$X", () => spelling.replaceAll("$M", inside))
        await callTool(bash, { command, timeout_ms: 10_000 })
        cases++
        if (existsSync(mark) || existsSync(inside)) passed.push(command)
        for (const file of [mark, inside]) rmSync(file, { force: true })
      }
      expect(passed).toEqual([])
    },
  )
})

test("plain commands pass without a sandbox too", async () => {
  using fixture = workspaceFixture(
    { "a.txt": "a\nb\n", "b/c.txt": "c\n" },
    { sandbox: "off", bash: { allow: ALLOWED } },
  )
  fixture.git("init", "--quiet")
  const bash = fixture.tools.get("bash")!
  for (const command of [
    "ls -la",
    "cat a.txt | grep -n b | head -1",
    "find . -name '*.txt' -not -path './b/*'",
    "find . -name '*.txt' -exec cat {} +",
    "ls *.txt | xargs -n 1 cat",
    "sed -n '1,2p' a.txt && sed 's/a/b/g' a.txt",
    "awk '{ print $1 }' a.txt",
    "git status --short && git add a.txt",
    "timeout 5 ls; env LANG=C sort -r a.txt",
    "sh -c 'ls; cat a.txt'",
    "echo x > out.txt 2>&1; wc -l < out.txt",
    "tar -czf out.tgz a.txt",
    "tar tzf out.tgz",
    "cat b/*.txt ./*.txt > b/all.txt",
    "cd b && git status --short && cat c.txt > d.txt",
    "cd b; cd ./; git log --oneline --all --no-ext-diff; git add c.txt",
    'echo "a\\b \\"c\\"" | grep -c a',
    "split -l 1 a.txt part-",
  ])
    expect({ command, ...(await callTool(bash, { command })) }).toMatchObject({ command, success: true })
})
