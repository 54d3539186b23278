import type { Demand, LoadedConfiguration, TrustRequest } from "@toolwright/runtime/configuration"
import { shellWord } from "@toolwright/toolbox/shell-word"
import type { Invocation } from "./command.ts"
import { neutralise } from "./render/neutralise.ts"
import { untilTypedIsRead } from "./typed-ahead.ts"

/**
 * What a file would do, a line each: `  start    the MCP server 'docs': npx docs-server`. What it says at length stands
 * below, behind a bar, so that no line of it is taken for one of ours.
 */
export function demandLines(demands: readonly Demand[]): string[] {
  const width = Math.max(0, ...demands.map(({ verb }) => verb.length))
  return demands.flatMap(({ verb, what, text = [] }) => [
    `  ${verb.padEnd(width)}  ${neutralise(what)}${text.length === 0 ? "" : ":"}`,
    ...text.map((line) => `  ${" ".repeat(width)}  │ ${neutralise(line)}`.trimEnd()),
  ])
}

const CHANGED = "is not trusted any more, since it or a file that it names has changed"

/** How a file that changes as one works on it, or on what it names, is taken without a question. */
const named = (path: string): string =>
  `--config ${neutralise(shellWord(path))} it is taken as it is each time, for who works on it.`

/** The question whether a file that was found may do what it says. */
export function trustQuestion({ path, demands, changed }: TrustRequest): string {
  const why = changed === true ? `${CHANGED}.` : "is not trusted yet."
  return [
    `${neutralise(path)} ${why} With your trust it would:`,
    ...demandLines(demands),
    ...(changed === true ? [`With ${named(path)}`] : []),
    "Trust this file as it stands? [y/N] ",
  ].join("\n")
}

/** What differs in nothing but the name at its end is said once, with all the names. */
function inFewWords(demands: readonly Demand[]): string[] {
  const names = new Map<string, string[]>()
  for (const { verb, what } of demands) {
    const [, head = `${verb} ${what}`, name] = /^(.* )('[^']+')$/.exec(`${verb} ${what}`) ?? []
    names.set(head, [...(names.get(head) ?? []), ...(name === undefined ? [] : [name])])
  }
  return [...names].map(([head, ends]) => `${head}${ends.join(", ")}`)
}

/** What is said where nobody can be asked, or where the answer was no; nothing where nothing waits. */
export function trustNotice({ file, trust, waiting, changed }: LoadedConfiguration): string | undefined {
  if (waiting.length === 0 || file === undefined) return undefined
  const demands = inFewWords(waiting.flatMap((setting) => setting.demands)).map(neutralise)
  const untrusted = changed === true ? CHANGED : "is not trusted"
  const why = trust === "declined" ? "was not trusted when you were asked" : untrusted
  return (
    `${neutralise(file)} ${why}, so it may not: ${demands.join("; ")}. 'toolwright trust' allows it as it stands, ` +
    `--trust (or TOOLWRIGHT_TRUST=1) for this command.${changed === true ? ` With ${named(file)}` : ""}`
  )
}

/**
 * Asks the person at the terminal; anything but yes means no. The end of the input is no answer: a window that was
 * closed on the question says nothing of the file.
 */
export function askForTrust({ stderr, signal }: Invocation): (request: TrustRequest) => Promise<boolean | undefined> {
  return async (request) => {
    const { createInterface } = await import("node:readline/promises")
    const terminal = createInterface({ input: process.stdin })
    const closed = new Promise<undefined>((resolve) => terminal.once("close", () => resolve(undefined)))
    try {
      await untilTypedIsRead(signal)
      stderr.write(trustQuestion(request))
      const answer = await Promise.race([terminal.question("", { signal }), closed])
      if (answer === undefined) stderr.write("\n")
      return answer === undefined ? undefined : /^y(es)?$/i.test(answer.trim())
    } finally {
      terminal.close()
    }
  }
}
