import { shellQuoted } from "@toolwright/toolbox/shell-word"

/** How the shell ends where a signal ended one of its commands: what that one said is a part of its answer. */
export const BROKEN_OFF = 200

/** How the shell ends where git could not do what one of the commands said, which it tells by ending with 128. */
export const CANNOT = 201
const GIT_CANNOT = 128

/**
 * One shell that runs commands in their order, whatever they end with; before the output of each but the first stands a
 * NUL. Where a signal ends one, as a limit does, the others are not run and the shell ends with {@link BROKEN_OFF};
 * where git could not do one of them, with {@link CANNOT}; else with 0: whatever else it ends with, it could not run
 * them all. A signal would not tell that: the shell may be the first process of a sandbox, which gets none of its own.
 */
export function shellInTurn(commands: readonly (readonly string[])[]): string[] {
  const told = `e=$?; [ $e -gt ${GIT_CANNOT} ] && exit ${BROKEN_OFF}; [ $e -eq ${GIT_CANNOT} ] && end=${CANNOT}`
  const lines = commands.map((words) => `${words.map(shellQuoted).join(" ")}; ${told}`)
  return ["/bin/sh", "-c", `end=0; ${lines.join("; printf '\\0'; ")}; exit $end`]
}
