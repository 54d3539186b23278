import { nameOf, type ConfigEntry } from "./config-file.ts"

const WHO_COMMITS = ["user.name", "user.email", "author.name", "author.email", "committer.name", "committer.email"]

/**
 * What a repository's own configuration may say: how files and objects are kept, who commits, which branches follow
 * which. None of these names a program, a file elsewhere, or how a server is trusted. Everything else is left out,
 * whatever it is called; a key that git learns tomorrow is none of these.
 */
const OF_REPOSITORY = new Set([
  "core.repositoryformatversion",
  "core.filemode",
  "core.symlinks",
  "core.ignorecase",
  "core.precomposeunicode",
  "core.autocrlf",
  "core.eol",
  "core.safecrlf",
  "core.whitespace",
  "core.trustctime",
  "core.checkstat",
  "core.logallrefupdates",
  "core.sharedrepository",
  "core.sparsecheckout",
  "core.sparsecheckoutcone",
  "core.bigfilethreshold",
  "core.compression",
  "core.loosecompression",
  "index.version",
  "index.sparse",
  "i18n.commitencoding",
  ...WHO_COMMITS,
  "branch.*.remote",
  "branch.*.pushremote",
  "branch.*.merge",
  "remote.*.url",
  "remote.*.pushurl",
  "remote.*.fetch",
  "remote.pushdefault",
  "diff.renames",
  "diff.algorithm",
  "merge.conflictstyle",
])
/** What decides how the repository is to be read at all: unknown ones make it unreadable, to git as to us. */
const EXTENSIONS = new Set(["objectformat", "compatobjectformat", "refstorage", "relativeworktrees", "noop"])
/** Extensions that a repository can be read without: where it may be fetched from, and a file more of settings. */
const DROPPED_EXTENSIONS = new Set(["worktreeconfig", "partialclone", "preciousobjects"])

/** What of the user's own configuration is used: who commits, and how lines end. */
const OF_USER = new Set([
  "core.autocrlf",
  "core.eol",
  "core.safecrlf",
  "core.excludesfile",
  ...WHO_COMMITS,
  "user.useconfigonly",
  "i18n.commitencoding",
])

/**
 * What stands fixed, after everything else: nothing that git does here starts a program of somebody else's choice,
 * and no output of it is for a terminal.
 */
const FIXED: Readonly<Record<string, string>> = {
  "core.fsmonitor": "false",
  "core.hookspath": "/dev/null",
  "core.pager": "cat",
  "core.editor": "true",
  "core.askpass": "",
  "core.sshcommand": "ssh -oBatchMode=yes",
  "core.gitproxy": "",
  "core.alternaterefscommand": "",
  "core.protectntfs": "true",
  "core.protecthfs": "true",
  "core.quotepath": "false",
  "diff.external": "",
  "diff.ignoresubmodules": "dirty",
  "commit.gpgsign": "false",
  "tag.gpgsign": "false",
  "push.gpgsign": "false",
  "log.showsignature": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
  "submodule.recurse": "false",
  "color.ui": "false",
}

/** A configuration that holds nothing but what a repository may say. `dropped` names the rest. */
export interface SafeConfig {
  readonly entries: readonly ConfigEntry[]
  readonly dropped: readonly string[]
  /** An extension that neither git nor we may pass over. */
  readonly unknownExtension?: string
}

/** Takes from a repository's configuration what it may say. */
export function allowedOfRepository(entries: readonly ConfigEntry[]): SafeConfig {
  const kept: ConfigEntry[] = []
  const dropped = new Set<string>()
  let unknown: string | undefined
  for (const entry of entries) {
    const name = nameOf(entry)
    const extension = entry.section === "extensions" && entry.subsection === undefined ? entry.key : undefined
    if (extension !== undefined && EXTENSIONS.has(extension)) kept.push(entry)
    else if (OF_REPOSITORY.has(name) && isPlain(entry)) kept.push(entry)
    else {
      if (extension !== undefined && !DROPPED_EXTENSIONS.has(extension)) unknown = extension
      dropped.add(name)
    }
  }
  return { entries: kept, dropped: [...dropped], ...(unknown === undefined ? {} : { unknownExtension: unknown }) }
}

/** Takes from the user's own configuration what is used here. */
export function allowedOfUser(entries: readonly ConfigEntry[]): ConfigEntry[] {
  return entries.filter((entry) => OF_USER.has(nameOf(entry)))
}

/** The fixed settings as entries. */
export function fixedEntries(): ConfigEntry[] {
  return Object.entries(FIXED).map(([name, value]) => {
    const dot = name.indexOf(".")
    return { section: name.slice(0, dot), key: name.slice(dot + 1), value }
  })
}

/** An address that could be read as an option is none. */
function isPlain({ section, value }: ConfigEntry): boolean {
  return section !== "remote" || (value !== null && !value.startsWith("-"))
}
