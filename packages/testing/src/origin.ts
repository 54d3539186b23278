/** Puts the line of a test into an error that comes up far from it, inside of an agent. */
export type Origin = <Failure extends Error>(error: Failure) => Failure

/**
 * Remembers where a function of this package was called, so that a test runner shows that line.
 *
 * @param callee the function itself
 */
export function originOf(callee: (...args: never[]) => unknown): Origin {
  const here: { stack?: string } = {}
  Error.captureStackTrace(here, callee)
  const frames = (here.stack ?? "").split("\n").slice(1)
  return (error) => withFrames(error, frames)
}

/** Gives an error the place of another one, in whose stead it is thrown. */
export function atPlaceOf<Failure extends Error>(error: Failure, other: Error): Failure {
  return withFrames(
    error,
    (other.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)),
  )
}

function withFrames<Failure extends Error>(error: Failure, frames: readonly string[]): Failure {
  if (frames.length > 0) error.stack = [`${error.name}: ${error.message}`, ...frames].join("\n")
  return error
}
