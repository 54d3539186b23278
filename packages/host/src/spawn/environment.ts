/** Variables that a child may see of our own environment. Everything else, keys and tokens first of all, stays here. */
const ALLOWED = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TERM",
  "TMPDIR",
  "TEMP",
  "TMP",
  "TZ",
  "SystemRoot",
  "SYSTEMROOT",
  "ComSpec",
  "PATHEXT",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
  "ProgramFiles",
] as const

/** Whether a variable of ours may be seen by every child. */
export function isHarmlessVariable(name: string): boolean {
  return (ALLOWED as readonly string[]).includes(name) || name.startsWith("LC_")
}

/**
 * The environment of a child process: an allow list of ours, the locale (`LC_*`), and what the caller adds.
 *
 * @param extra variables that the caller sets; `undefined` removes one
 * @param pass names of further variables of ours that configuration lets through
 */
export function childEnvironment(
  extra: Readonly<Record<string, string | undefined>> = {},
  pass: readonly string[] = [],
  source: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const environment: Record<string, string> = {}
  for (const name of Object.keys(source)) {
    const allowed = isHarmlessVariable(name) || pass.includes(name)
    const value = source[name]
    if (allowed && value !== undefined) environment[name] = value
  }
  for (const [name, value] of Object.entries(extra)) {
    if (value === undefined) delete environment[name]
    else environment[name] = value
  }
  return environment
}
