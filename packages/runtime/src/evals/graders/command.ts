import { ToolwrightError } from "@toolwright/toolbox"
import { closed, text } from "../schema-parts.ts"
import { excerpt, failed, passed, type EndedTrial, type GraderKind } from "./kind.ts"
import { checkText, LOOKS, TEXT_PROPERTIES, textMistakes, type TextCheck } from "./text.ts"

/** A command that is run in the folder of a trial, once its run has ended: in the sandbox, without a network. */
export interface CommandCheck {
  /** A line for a shell, or a program and its arguments. */
  run: string | string[]
  /** The code that it has to end with; 0 unless given. */
  exit?: number
  /** What it has to print, on standard output. */
  prints?: TextCheck
  /** Files that are put there first, over what the agent left: tests that it has not seen. */
  files?: Record<string, string>
  /** Longest time; two minutes unless given. */
  seconds?: number
}

const DEFAULT_SECONDS = 120
/** What a shell answers where a program cannot be started, or is not there. */
const NOT_STARTED = new Set([126, 127])

export const commandKind: GraderKind<CommandCheck> = {
  schema: closed(
    {
      run: { anyOf: [text(20_000), { type: "array", items: text(20_000), minItems: 1, maxItems: 200 }] },
      exit: { type: "integer", minimum: 0, maximum: 255 },
      prints: { type: "object", properties: TEXT_PROPERTIES, additionalProperties: false },
      files: { type: "object", additionalProperties: { type: "string", maxLength: 1_000_000 }, maxProperties: 200 },
      seconds: { type: "number", exclusiveMinimum: 0, maximum: 86_400 },
    },
    ["run"],
  ),
  title: ({ run }) => `command ${excerpt(typeof run === "string" ? run : run.join(" "), 60)}`,
  mistakes: ({ prints }) => (prints === undefined ? [] : textMistakes(prints).map((each) => `prints: ${each}`)),
  async grade({ run, exit = 0, prints, files = {}, seconds = DEFAULT_SECONDS }, trial) {
    for (const [path, content] of Object.entries(files)) await put(trial, path, content)
    const argv = (typeof run === "string" ? ["sh", "-c", run] : run) as [string, ...string[]]
    const ended = await trial.host.runProgram(argv, { timeoutMs: seconds * 1_000 })
    const said = excerpt(ended.stderr.trim() === "" ? ended.stdout : ended.stderr)
    const told = said === "" ? "" : `: ${said}`
    if (ended.ended === "cancelled") throw new Error("the command was cancelled")
    if (ended.ended !== "exit") return failed(`it was ended (${ended.ended})${told}`)
    const { exitCode } = ended
    if (exitCode !== exit) {
      if (NOT_STARTED.has(exitCode!) && !isOwn(run)) throw new Error(`the command could not be started${told}`)
      return failed(`it ended with ${exitCode}, not ${exit}${told}`)
    }
    if (prints === undefined || !LOOKS.some((look) => prints[look] !== undefined))
      return passed(`it ended with ${exit}`)
    return checkText(ended.stdout, prints, "what it prints")
  },
}

/** A program that is named by its path is the agent's to make; another one has to be on the machine. */
function isOwn(run: string | string[]): boolean {
  const [first = ""] = typeof run === "string" ? run.trim().split(/\s/) : run
  return first.includes("/")
}

/** What the agent left in its place may be a link. */
async function put({ host: { files } }: EndedTrial, path: string, content: string): Promise<void> {
  await files.remove(path).catch((thrown: unknown) => {
    if (!ToolwrightError.isInstance(thrown) || thrown.code !== "NOT_FOUND") throw thrown
  })
  await files.write(path, content)
}
