import { expect, test } from "vitest"
import { readCommand } from "./allow-list.ts"

const understood: [command: string, programs: string[]][] = [
  ["npm test", ["npm"]],
  ["cd src && npm run build; git status | head -3 &", ["npm", "git", "head"]],
  ["FOO=1 npm test > out.txt 2>&1", ["npm"]],
  ["echo 'a; rm -rf /' | wc -l", ["wc"]],
  ["'g'\"i\"t status", ["git"]],
  ["gi\\t status", ["git"]],
  ["git log # ; rm x", ["git"]],
  ["git status\nrm x", ["git", "rm"]],
  ['"gi\\\nt" status', ["git"]],
  ['"gi\\t" status', ["gi\\t"]],
  ["npm test &> log || cat log", ["npm", "cat"]],
  ["git log a#b; ls", ["git", "ls"]],
  ["git log \u00A0x\v\f", ["git"]],
  ["test -f x && printf '%s' \"$HOME\"; npm test & wait $!", ["npm"]],
]

test.each(understood)("finds the programs of %j", (command, programs) => {
  expect(readCommand(command)).toMatchObject({ programs })
})

const refused = [
  "git $(rm x)",
  "git `rm x`",
  'git "$(rm x)"',
  "(rm x)",
  "f() { rm x; }; f",
  "$X y",
  '"$X" y',
  "git <<EOF\nx\nEOF",
  "cat <(rm x)",
  "if true; then rm x; fi",
  "PATH=. git",
  "LD_PRELOAD=./x.so git",
  "NODE_OPTIONS=--require=./x npm test",
  "GIT_SSH_COMMAND=x git fetch",
  "git 'unfinished",
  "! grep x file",
  "r? x",
  "git ${X:-y}",
  "$'rm' x",
  "{ rm x; }",
  "git >$(x)",
  "git status\r\ngit log",
  "x='a[$(rm x)]'; echo $[x]",
  "test -v 'a[$(rm x)]'",
  "x=-v; test $x 'a[$(rm x)]'",
  "printf -v 'a[$(rm x)]' x",
  "x=-v; printf \"$x\" 'a[$(rm x)]' x",
  "wait -np 'a[$(rm x)]'",
  "RUSTC_WRAPPER=./x git",
  "MANPAGER=./x git",
  "HOME=. git status",
]

test.each(refused)("refuses %j, for it cannot tell what would run", (command) => {
  const scan = readCommand(command)
  const blocked = "refused" in scan || !scan.programs.every((program) => program === "git")
  expect({ scan, blocked }).toEqual({ scan, blocked: true })
})
