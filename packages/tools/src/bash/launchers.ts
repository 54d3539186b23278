import { basename } from "node:path"
import type { CommandReading, Reading, SimpleCommand } from "./simple-command.ts"

export type { SimpleCommand } from "./simple-command.ts"

interface Rules {
  readonly allow: readonly string[]
  /** Reads a command line within a command line (`sh -c`). */
  readonly scan: (command: string) => CommandReading
  /** Is told each command, also those in the arguments of others, in their order. */
  readonly met?: (command: Pick<SimpleCommand, "program" | "args" | "redirects">) => void
}

/**
 * Whether a command could start a program that is not on the list, or write beside the workspace, although every
 * program that it names is on it. For the shell that nothing contains: there, a program that runs what its arguments
 * say is looked into, or refused.
 *
 * @returns why it is refused
 */
export function startsOthers(command: SimpleCommand, rules: Rules): string | undefined {
  const { args, assigned, redirects } = command
  const program = basename(command.program)
  rules.met?.({ program, args, redirects })
  const variable = assigned.find((name) => !isHarmlessVariable(name, program === ""))
  if (variable !== undefined) return `the variable ${variable}`
  if (redirects.some((target) => !staysInside(target)))
    return "a redirection that may lead out of the workspace, or to files of git or of toolwright"
  if (ANYTHING.has(program)) return `${program}, which runs whatever it is told`
  const check = CHECKS[program]
  return check === undefined ? undefined : check(args, rules, program)
}

type Check = (args: readonly Reading[], rules: Rules, program: string) => string | undefined

/** What runs whatever it is told, in ways that are not looked into here. */
const ANYTHING = new Set(
  (
    ". source eval exec trap bind complete compgen enable hash alias mapfile readarray coproc builtin sudo doas " +
    "su runuser chroot export declare typeset readonly local unset let read set shopt getopts pushd popd " +
    "unshare nsenter flock watch parallel script expect gdb strace ltrace ssh scp sftp busybox toybox at batch " +
    "crontab systemd-run screen tmux taskset chrt choom setpriv prlimit setarch linux32 linux64 fakeroot " +
    "run-parts pkexec " +
    "start-stop-daemon dbus-run-session unbuffer rlwrap entr socat ncat m4 dc cpio " +
    "vi vim nvim view ex ed emacs nano less more man info"
  ).split(" "),
)

const HARMLESS_VARIABLE = /^(?:LANG|LANGUAGE|LC_\w+|TZ|CI|NO_COLOR|FORCE_COLOR|TERM|COLUMNS|LINES|DEBUG|NODE_ENV)$/u

function isHarmlessVariable(name: string, ofShell: boolean): boolean {
  return HARMLESS_VARIABLE.test(name) || (ofShell && /^[a-z_][a-z0-9_]*$/u.test(name))
}

function staysInside({ text, variable }: Reading): boolean {
  if (variable || text.startsWith("~")) return false
  if (/^(?:\d+|-|\/dev\/(?:null|stdout|stderr|stdin))$/u.test(text)) return true
  return !text.startsWith("/") && !text.split("/").some((part) => part === ".." || /^\.(?:git|toolwright)/iu.test(part))
}

/** Programs that run their first argument, and the options by which the next word may be something else. */
const FLAGS: Readonly<Record<string, RegExp>> = {
  env: /^$/u,
  nice: /^(?:-n|-?\d+|-n\d+)$/u,
  nohup: /^$/u,
  setsid: /^-[wf]$/u,
  stdbuf: /^-[ioe][L0-9]+$/u,
  time: /^-p$/u,
  timeout: /^(?:\d+(?:\.\d+)?[smhd]?|--foreground|-k\d+[smhd]?)$/u,
  ionice: /^-[cn]\d$/u,
  command: /^$/u,
  xargs: /^(?:-0|-r|-t|-[nPL]\d*|\d+|--null|--no-run-if-empty|--max-args=\d+)$/u,
}

const prefix: Check = (args, rules, program) => {
  const rest = [...args]
  if (program === "command" && /^-[vV]$/u.test(rest[0]?.text ?? "")) return undefined
  const assigned: string[] = []
  for (let first = rest[0]; first !== undefined; first = rest[0]) {
    const name = program === "env" ? /^([A-Za-z_]\w*)=/u.exec(first.raw)?.[1] : undefined
    if (name !== undefined) assigned.push(name)
    else if (first.variable || !FLAGS[program]!.test(first.text)) break
    rest.shift()
  }
  return inner(rest, rules, assigned, program)
}

/** What xargs runs gets arguments that nobody can see here: nothing that looks into its arguments may get them. */
const xargs: Check = (args, rules, program) => {
  const run = args.find(({ text }) => !FLAGS.xargs!.test(text))?.text
  return run !== undefined && CHECKS[basename(run)] !== undefined
    ? `${run}, which ${program} would run`
    : prefix(args, rules, program)
}

/** Where a command goes, what it writes by a relative name goes too. */
const cd: Check = ([target, ...more]) =>
  target !== undefined && more.length === 0 && staysInside(target) && !target.text.startsWith("-")
    ? undefined
    : "cd to where it may leave the workspace"

/** A command that stands in the arguments of another one. */
function inner(
  words: readonly Reading[],
  rules: Rules,
  assigned: readonly string[],
  within: string,
): string | undefined {
  const [first, ...args] = words
  if (first === undefined) return undefined
  if (first.variable || first.text.startsWith("-")) return `${first.raw} in the arguments of ${within}`
  if (!rules.allow.includes(first.text)) return `${first.text}, which ${within} would run`
  return startsOthers({ program: first.text, args, assigned, redirects: [] }, rules)
}

const shell: Check = (args, rules, program) => {
  const [flag, script] = args
  if (flag?.text !== "-c" || script === undefined || script.variable)
    return `${program} with a script that is not looked into`
  const scan = rules.scan(script.text)
  if ("refused" in scan) return scan.refused
  const denied = scan.programs.find((one) => !rules.allow.includes(one))
  if (denied !== undefined) return `${denied}, which ${program} would run`
  return scan.commands.map((command) => startsOthers(command, rules)).find((why) => why !== undefined)
}

const find: Check = (args, rules) => {
  for (const [index, { text }] of args.entries()) {
    if (/^-f(?:print|ls)/u.test(text)) return `find with ${text}`
    if (!/^-(?:exec|ok)(?:dir)?$/u.test(text)) continue
    const run = args[index + 1]?.text
    if (text.endsWith("dir") && run !== undefined && CHECKS[basename(run)] !== undefined)
      return `${run}, which find would run in other folders`
    const why = inner(args.slice(index + 1), rules, [], "find")
    if (why !== undefined) return why
  }
  return openEnded(args, "find")
}

/** What the shell puts in place of a pattern or a variable could be an option: of a file's name so much must stand. */
function openEnded(args: readonly Reading[], program: string): string | undefined {
  const open = args.find(
    ({ raw, text, variable }) => variable && raw !== "{}" && (/[$`{~]/u.test(raw) || !/^[\w./]/u.test(text)),
  )
  return open === undefined ? undefined : `${open.raw} in the arguments of ${program} (write ./ before a pattern)`
}

/** Programs of whose options only these are known to start nothing. */
const withOptions =
  (allowed: RegExp): Check =>
  (args, _, program) => {
    const wrong = args.find(({ text }) => text.startsWith("-") && text !== "-" && !allowed.test(text))
    return wrong === undefined ? openEnded(args, program) : `${program} with ${wrong.text}`
  }

const SED = /^(?:(?:\d+|\$)(?:,(?:\d+|\$))?)?(?:[pdq=]|s([/|#,@])(?:(?!\1)[^\n])*\1(?:(?!\1)[^\n])*\1[gpIi0-9]*)$/u

const sed: Check = (args, rules, program) => {
  const why = withOptions(/^-(?:[nErsuz]+|i|-quiet|-silent|-regexp-extended)$/u)(args, rules, program)
  const script = args.find(({ text }) => !text.startsWith("-"))
  const isPlain = script === undefined || (SED.test(script.text) && !script.variable)
  return why ?? (isPlain ? undefined : "sed with more than one plain s, p, d or q")
}

const awk: Check = (args, rules, program) => {
  const script = args.find(({ text }) => !text.startsWith("-"))
  if (script?.variable === true || /system|getline|[|>@]|ENVIRON/u.test(script?.text ?? ""))
    return `${program} with more than patterns and print`
  return withOptions(/^-F.+$/u)(args, rules, program)
}

const GIT_READING = new Set(
  (
    "status log diff show add commit branch checkout switch restore stash tag rev-parse ls-files ls-tree blame " +
    "describe merge reset " +
    "clean rm mv shortlog cherry-pick revert init rev-list cat-file name-rev show-ref symbolic-ref reflog worktree"
  ).split(" "),
)
const GIT_STARTING = /^-[cCOSxp]/u
/** Long options of which git takes every beginning, too; a repository without a work tree has its settings in sight. */
const GIT_STARTING_LONG = (
  "paginate config exec upload receive open ext- textconv template gpg output separate git-dir work-tree edit " +
  "interactive patch bare"
).split(" ")

const git: Check = (args) => {
  const [first] = args
  if (first === undefined || first.variable || !GIT_READING.has(first.text)) return `git ${first?.raw ?? ""}`
  const wrong = args.find(({ text }) => GIT_STARTING.test(text) || isStartingLong(text))
  return wrong === undefined ? openEnded(args, "git") : `git with ${wrong.text}`
}

function isStartingLong(option: string): boolean {
  const name = /^--([^=]+)/u.exec(option)?.[1]
  return name !== undefined && GIT_STARTING_LONG.some((one) => one.startsWith(name) || name.startsWith(one))
}

/** tar takes its options without a dash as well, and a name with a colon for one of another machine. */
const tar: Check = (args, rules, program) => {
  const [first] = args
  const isOpen = first !== undefined && (first.variable || !/^(?:-.*|[cxtvzjJpkfO]+)$/su.test(first.text))
  return isOpen ? `tar with ${first.raw}` : local(TAR)(args, rules, program)
}
const TAR = /^-(?:[cxtvzjJpkfO]+|C|-exclude=.*|-strip-components=\d+|-directory=.*)$/u

/** {@link withOptions} for programs that take `machine:file` for a file of another machine. */
const local =
  (allowed: RegExp): Check =>
  (args, rules, program) => {
    const away = args.find(({ text }) => text.includes(":"))
    return away === undefined ? withOptions(allowed)(args, rules, program) : `${program} with ${away.raw}`
  }

const CHECKS: Readonly<Record<string, Check | undefined>> = {
  ...Object.fromEntries(Object.keys(FLAGS).map((program) => [program, prefix])),
  ...Object.fromEntries(["sh", "bash", "dash", "zsh", "ksh", "ash"].map((program) => [program, shell])),
  ...Object.fromEntries(["awk", "gawk", "mawk", "nawk"].map((program) => [program, awk])),
  xargs,
  cd,
  find,
  sed,
  git,
  tar,
  sort: withOptions(/^-[bdfghinRruzMVcCms\d,.k]+$|^--(?:reverse|numeric-sort|unique)$/u),
  rg: withOptions(/^-(?:[a-yA-Z]*|-(?!pre|hostname|search-zip)[a-z-]+(?:=.*)?)$/u),
  fd: withOptions(/^-(?:[HIuasigFlLp0dteEc\d]+|-(?:hidden|no-ignore|glob|type|extension|exclude|max-depth)(?:=.*)?)$/u),
  split: withOptions(/^-[abClntdxeu\d][^-]*$|^--(?:bytes|lines|number|suffix-length|verbose)(?:=.*)?$/u),
  install: withOptions(/^-[bCcDdpTtv]+$|^-[mgo][^-]*$|^--(?:directory|mode|verbose|target-directory)(?:=.*)?$/u),
  rsync: local(/^-[avzrnhPu]+$|^--(?:delete|dry-run|exclude=.*)$/u),
  zip: withOptions(/^-[rqj0-9]+$/u),
  xz: withOptions(/^-[dkfqvz0-9]+$/u),
}
