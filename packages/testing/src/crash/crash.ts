import { ToolwrightError } from "@toolwright/toolbox"

/** What starts with a process that is to die; see `crash-here.ts`. */
const CRASH_HERE = new URL(import.meta.url.endsWith(".ts") ? "./crash-here.ts" : "./crash-here.js", import.meta.url)

type Environment = Readonly<Record<string, string | undefined>>

/**
 * An environment for a process of yours, or for the `toolwright` command: the process is killed (`kill -9`) the moment
 * that event `seq` of a run is on record, with those that are written together with it. Going on with the run then
 * shows whether your tools do nothing twice and lose nothing.
 *
 * @param seq of an event, from 1; `toolwright runs show` numbers them
 * @example
 * spawnSync(process.execPath, ["my-agent.ts"], { env: crashAfter(7) })
 * for await (const event of toolwright.resume(runId)) console.log(event.type) // or: npx toolwright resume
 */
export function crashAfter(seq: number, env: Environment = process.env): Record<string, string> {
  return crashing("after", seq, env)
}

/**
 * As {@link crashAfter}, but killed when event `seq` is about to be written: what led to it has happened, such as the
 * effect of a call, and nothing of it is on record.
 */
export function crashBefore(seq: number, env: Environment = process.env): Record<string, string> {
  return crashing("before", seq, env)
}

function crashing(moment: "before" | "after", seq: number, env: Environment): Record<string, string> {
  if (!Number.isSafeInteger(seq) || seq < 1)
    throw new ToolwrightError("INVALID_ARGUMENTS", `Events of a run are numbered from 1; '${seq}' is none of them.`)
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const options = [env["NODE_OPTIONS"], `--import=${CRASH_HERE.href}`].filter(Boolean).join(" ")
  return { ...Object.fromEntries(given), NODE_OPTIONS: options, TOOLWRIGHT_CRASH: `${moment}:${seq}` }
}
