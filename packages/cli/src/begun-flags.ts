import { REDACTED } from "@toolwright/host/text"
import type { Configuration } from "@toolwright/runtime"
import type { Invocation } from "./command.ts"
import { givenFlags, MODEL_FLAGS, saidInALine } from "./given-flags.ts"
import { neutralise } from "./render/neutralise.ts"

/**
 * The flags of a command that goes on with a run, with those of its model that the command was given which began it:
 * only where nothing here says where a model is, and only of a run that was begun by a command in this folder's own
 * database, which is known to be the user's. One that is named may be anybody's, a server's or a file that was given by
 * somebody else: an address of theirs would be sent the conversation, and a key.
 */
export async function withBegunFlags(
  { cwd, env, stderr }: Invocation,
  values: Readonly<Record<string, unknown>>,
  configuration: Configuration,
  id: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { baseUrl, path, screenplay, backend } = configuration.model
  if ([baseUrl, path, screenplay, backend, configuration.runs.database].some((place) => place !== undefined))
    return values
  const [{ newestOpen }, { begunWith, recordsUnder }] = await Promise.all([
    import("@toolwright/runtime"),
    import("@toolwright/runtime/records"),
  ])
  // What there is to say of the database is said when it is opened to be written.
  await using records = recordsUnder(configuration, { cwd, env, log: () => {} })
  const log = await records.log.look()
  if (log === undefined) return values
  const row = id === "latest" ? await newestOpen(log) : await log.find(id)
  // One that has ended is not gone on with, so there is nothing to say of how it was begun.
  if (row.state === "ended") return values
  const { flags, here } = await begunWith(log, row)
  const lacking = MODEL_FLAGS.filter((flag) => flags[flag] !== undefined && values[flag] === undefined)
  const added = saidInALine(Object.fromEntries(lacking.map((flag) => [flag, flags[flag]!])))
  // With what stands in place of a secret nothing can be asked, and nothing is asked that cannot be said.
  const isWhole = lacking.every((flag) => added[flag] !== undefined && !String(flags[flag]).includes(REDACTED))
  if (!here || !isWhole || lacking.length === 0) return values
  stderr.write(`As it was begun:${neutralise(givenFlags(added, ""))}\n`)
  return { ...values, ...added }
}
