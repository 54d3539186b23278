import { describe, expect, test } from "vitest"
import { readShellCommit } from "./shell-commit.ts"

describe("a commit in a shell is seen", () => {
  test.each([
    "git commit -m x",
    "git -c user.name='R&D' commit -am x",
    'git -c "alias.x=!f() { true; }; f" x',
    'g"i"t comm""it -m x',
    "g\\it com\\mit -m x",
    "command git commit -m x",
    "env GIT_AUTHOR_NAME=x git -C . commit -m x",
    "/usr/bin/git --no-pager push origin main",
    "sh -c 'git commit -m x'",
    `bash -lc "cd src && sh -c 'git commit -m x'"`,
    "eval git commit -m x",
    "true; git add -A && git commit -m 'a; b'",
    "sudo -u me timeout 5 git push",
    "(git commit -m x)",
    "if true; then git commit -m x; fi",
    "G=git; $G commit -m x",
    "c=commit; git $c -m x",
    "git ${c}mit -m x",
    "echo $(git commit -m x)",
    "git ci -m x",
    "git commit-tree HEAD^{tree} -m x",
    "git merge topic",
    "ls | xargs git commit -m x",
    "bash <<'END'\ngit commit -m x\nEND",
    "cat > a.md <<END\nno commit\nEND\ngit commit -m x",
    "find . -name x -exec git commit -m x \\;",
  ])("%s", (command) => {
    expect(readShellCommit(command).handsIn).toBe(true)
  })

  test.each([
    "git log --grep commit",
    "git add -A; echo commit",
    "git status",
    "npm test -- commit",
    "echo 'git commit -m x'",
    "grep -rn 'git push' docs",
    "cat notes/commit.md",
    "git",
    "cat > a.md <<'END'\ngit commit -m x\nEND\nls",
    "git diff HEAD > push.txt",
    "",
  ])("and nothing else is: %s", (command) => {
    expect(readShellCommit(command).handsIn).toBe(false)
  })
})

test.each([
  ["git add -A && git commit -m 'it > that; rm x' 2>&1 | tail -1", false],
  ["cd lib && git commit -qam x >/dev/null", false],
  ["echo x >> a.js && git commit -am x", true],
  ["sed -i s/a/b/ a.js; git commit -am x", true],
  ["git checkout HEAD~1 a.js && git commit -am x", true],
  ["git commit -am x && npm version patch", true],
])("what stands beside a commit is seen too: %s", (command, alsoChanges) => {
  expect(readShellCommit(command)).toEqual({ handsIn: true, alsoChanges })
})
