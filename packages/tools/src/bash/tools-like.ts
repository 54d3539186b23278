import { programsIn, roleOfCommand } from "./shell-commit.ts"

const DELETING = ["delete_file", "delete_directory", "file_delete"]
const READING = ["read_text_file", "file_read"]
const WRITING = ["write_file", "file_write"]

/** What programs do that tools do too. */
const LIKE: Record<string, readonly string[]> = {
  rm: DELETING,
  rmdir: DELETING,
  unlink: DELETING,
  shred: DELETING,
  find: DELETING,
  mv: ["move_file", ...DELETING],
  cat: READING,
  head: READING,
  tail: READING,
  less: READING,
  cp: [...READING, ...WRITING],
  tee: WRITING,
  dd: WRITING,
  sed: ["edit_file", "file_replace", "code_edit"],
  mkdir: ["create_directory"],
  ls: ["list_directory"],
  curl: ["webscrape"],
  wget: ["webscrape"],
}

/**
 * The tools that do what a command line does, as far as its text tells: rules that deny them deny the command. A
 * program can do anything under any name, so who denies a thing for good denies `bash` as well.
 */
export function toolsLike(command: string): string[] {
  const words: string[] = command.replaceAll(/["'\\]/g, "").match(/[\w-]+/g) ?? []
  const git = words.includes("git") ? words.map((word) => `git_${word.replaceAll("-", "_")}`) : []
  const commits = roleOfCommand(command) === undefined ? [] : ["git", "git_commit", "git_push"]
  const programs = programsIn(command).flatMap((program) => (Object.hasOwn(LIKE, program) ? LIKE[program]! : []))
  const writes = command.includes(">") ? WRITING : []
  return [...new Set([...(git.length === 0 ? [] : ["git", ...git]), ...commits, ...programs, ...writes])]
}
