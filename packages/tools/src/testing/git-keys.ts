/** Where a setting of git stands: its section, perhaps a part of it, and its name. */
export interface GitKey {
  readonly section: string
  readonly part?: string
  readonly name: string
}

/** Names of settings whose value git may start, or from whose folder it may start something, by section. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  alias: ["status", "diff", "add", "commit", "log", "checkout", "branch", "push", "rev-parse", "ls-files", "config"],
  core: ["fsmonitor", "pager", "editor", "askPass", "sshCommand", "gitProxy", "hooksPath", "alternateRefsCommand"],
  credential: ["helper"],
  diff: ["external", "tool", "guitool"],
  gc: ["recentObjectsHook"],
  gpg: ["program"],
  imap: ["tunnel"],
  init: ["templateDir"],
  interactive: ["diffFilter"],
  pager: ["status", "diff", "log", "commit", "branch", "config"],
  sendemail: ["sendmailCmd", "smtpServer", "toCmd", "ccCmd", "headerCmd"],
  sequence: ["editor"],
  uploadpack: ["packObjectsHook"],
  web: ["browser"],
}

/** The same for settings whose section names something: a filter, a remote, a tool. */
const PROGRAMS_OF: Readonly<Record<string, readonly string[]>> = {
  browser: ["cmd", "path"],
  credential: ["helper"],
  diff: ["command", "textconv"],
  difftool: ["cmd", "path"],
  filter: ["clean", "smudge", "process"],
  gpg: ["program", "defaultKeyCommand"],
  guitool: ["cmd"],
  hook: ["command"],
  man: ["cmd", "path"],
  merge: ["driver"],
  mergetool: ["cmd", "path"],
  remote: ["uploadpack", "receivepack", "vcs", "proxy"],
  submodule: ["update"],
  tar: ["command"],
  trailer: ["cmd", "command"],
}

/** The parts that the repository of the test has something of, or that git has by itself. */
const PARTS: Readonly<Record<string, string>> = { remote: "origin", gpg: "ssh", credential: "https://127.0.0.1:9" }

/** Every setting that names a program. */
export function gitKeys(): GitKey[] {
  const plain = Object.entries(PROGRAMS).flatMap(([section, names]) => names.map((name) => ({ section, name })))
  const named = Object.entries(PROGRAMS_OF).flatMap(([section, names]) =>
    names.map((name) => ({ section, part: PARTS[section] ?? "evil", name })),
  )
  return [...plain, ...named]
}

const head = ({ section, part }: GitKey): string => (part === undefined ? `[${section}]` : `[${section} "${part}"]`)

/** Ways to write a setting that git reads as the same. */
export const GIT_SPELLINGS: Readonly<Record<string, (key: GitKey, value: string) => string>> = {
  plainly: (key, value) => `${head(key)}\n\t${key.name} = ${value}\n`,
  "in capitals": (key, value) =>
    `${head({ ...key, section: key.section.toUpperCase() })}\n\t${key.name.toUpperCase()} = ${value}\n`,
  "in quotes": (key, value) => `${head(key)}\n${key.name}="${value}"\n`,
  "in pieces": (key, value) => `${head(key)}\n\t${key.name} = "${value.slice(0, 3)}"${value.slice(3)}\n`,
  "over two lines": (key, value) => `${head(key)}\n\t${key.name} = \\\n${value}\n`,
  "on one line, with a comment": (key, value) => `${head(key)} ${key.name} = ${value} ; nothing\n`,
  "with returns and blanks": (key, value) => `  ${head(key)}\r\n   ${key.name}   =   ${value}   \r\n`,
  "as a command of the shell": (key, value) => `${head(key)}\n\t${key.name} = "!sh ${value}"\n`,
}
