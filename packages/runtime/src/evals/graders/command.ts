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
/** Failures of writing a file that tell of what stands there, and not of the machine. */
const IN_THE_WAY = new Set(["NOT_A_FILE", "NOT_A_DIRECTORY", "PARENT_NOT_A_DIRECTORY", "ACCESS_DENIED"])
const LOOK_MS = 10_000
const MOST_PROGRAMS = 50

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
    const inTheWay = await putAll(trial, files)
    if (inTheWay !== undefined) return failed(inTheWay)
    const argv = (typeof run === "string" ? ["sh", "-c", run] : run) as [string, ...string[]]
    const ended = await trial.host.runProgram(argv, { timeoutMs: seconds * 1_000 })
    const said = excerpt(ended.stderr.trim() === "" ? ended.stdout : ended.stderr)
    const told = said === "" ? "" : `: ${said}`
    if (ended.ended === "cancelled") throw new Error("the command was cancelled")
    if (ended.ended !== "exit") return failed(`it was ended (${ended.ended})${told}`)
    const { exitCode } = ended
    if (exitCode !== exit) {
      if (NOT_STARTED.has(exitCode!) && !(await isThere(run, trial)))
        throw new Error(`the command could not be started${told}`)
      return failed(`it ended with ${exitCode}, not ${exit}${told}`)
    }
    if (prints === undefined || !LOOKS.some((look) => prints[look] !== undefined))
      return passed(`it ended with ${exit}`)
    return checkText(ended.stdout, prints, "what it prints")
  },
}

/**
 * Whether the programs of a command are on the machine, so that its exit code is theirs: what an agent wrote may end
 * with any. One that is named by its path is the agent's to make.
 */
async function isThere(run: string | string[], { host }: EndedTrial): Promise<boolean> {
  const named = typeof run === "string" ? programsIn(run) : run.slice(0, 1)
  for (const program of named.filter((each) => !each.includes("/"))) {
    const { exitCode } = await host.runProgram(["sh", "-c", 'command -v -- "$1" >/dev/null', "sh", program], {
      timeoutMs: LOOK_MS,
    })
    if (exitCode !== 0) return false
  }
  return true
}

/** The words of a shell's line at which a command begins, as far as they are plain names. */
function programsIn(line: string): string[] {
  const commands = line.split(/[;&|\n(]+/).map((part) => part.trim().split(/\s+/))
  const first = commands.map((words) => words.find((word) => !/^\w+=/.test(word)) ?? "")
  return first.filter((word) => /^[\w.+/-]+$/.test(word)).slice(0, MOST_PROGRAMS)
}

async function putAll(trial: EndedTrial, files: Readonly<Record<string, string>>): Promise<string | undefined> {
  for (const [path, content] of Object.entries(files)) {
    const inTheWay = await put(trial, path, content)
    if (inTheWay !== undefined) return inTheWay
  }
  return undefined
}

/**
 * What the agent left in its place may be a link, which goes, or a folder, which stays.
 *
 * @returns why it cannot be put there
 */
async function put({ host: { files } }: EndedTrial, path: string, content: string): Promise<string | undefined> {
  try {
    await files.remove(path).catch((thrown: unknown) => {
      if (!ToolwrightError.isInstance(thrown) || thrown.code !== "NOT_FOUND") throw thrown
    })
    await files.write(path, content)
    return undefined
  } catch (thrown) {
    if (!ToolwrightError.isInstance(thrown) || !IN_THE_WAY.has(thrown.code)) throw thrown
    return `what was left in the place of ${path} is in its way: ${thrown.message}`
  }
}
