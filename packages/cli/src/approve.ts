import type { ChooseReading } from "@toolwright/runtime"
import type { PermissionPolicy } from "@toolwright/toolbox"
import type { Invocation } from "./command.ts"
import { neutralise } from "./render/neutralise.ts"
import type { Renderer } from "./render/renderer.ts"
import { argumentsToPermit } from "./render/short.ts"
import { untilTypedIsRead } from "./typed-ahead.ts"

type Approve = NonNullable<PermissionPolicy["approve"]>

/** Puts one question at a time: calls that only read run beside each other, and an answer is for one of them. */
export function oneAtATime(approve: Approve): Approve {
  let before: Promise<unknown> = Promise.resolve()
  return (call, signal) => {
    const answer = before.then(() => (signal.aborted ? false : approve(call, signal)))
    before = answer.catch(() => {})
    return answer
  }
}

/** How a call is named in the question whether it may run. */
export function permitQuestion({ tool, arguments: args }: Parameters<Approve>[0]): string {
  const call = `${neutralise(tool.name)} ${argumentsToPermit(args)}`.trimEnd()
  if (tool.changed === undefined) return `Allow ${call}? [y/N] `
  return (
    `Since it was let in, ${tool.changed} changed. Allow ${call}, and take the tool as it is now from here ` +
    "on? [y/N] "
  )
}

/** Lines of what a call would change that are put before a person. */
const MOST_PREVIEWED = 60

/**
 * What a call would do to what is there, and what a changed tool says now, as lines above the question; often empty.
 */
export async function permitPreview({ tool, arguments: args }: Parameters<Approve>[0]): Promise<string> {
  const now = tool.changed === undefined ? "" : `${tool.name} of ${tool.provenance?.name} says now: ${tool.description}`
  const preview = [now, await tool.preview?.(args).catch(() => undefined)]
  const text = preview.filter((part) => part !== undefined && part !== "").join("\n")
  if (text === "") return ""
  const lines = neutralise(text).split("\n")
  const more = lines.length > MOST_PREVIEWED ? [`[${lines.length - MOST_PREVIEWED} more lines]`] : []
  return [...lines.slice(0, MOST_PREVIEWED), ...more].map((line) => `  ${line}\n`).join("")
}

/**
 * Asks the person at the terminal whether a call may run; anything but yes means no.
 *
 * @param shown what draws on the terminal at that time, and must not draw over the question
 */
export function approveOnTerminal(invocation: Invocation, shown: () => Renderer | undefined): Approve {
  return oneAtATime(async (call, signal) => {
    const question = async (): Promise<string> => (await permitPreview(call)) + permitQuestion(call)
    return /^y(es)?$/i.test(await answerOnTerminal(invocation, shown, question, signal))
  })
}

/** Asks the person at the terminal which call was meant; anything but its number means none. */
export function chooseOnTerminal(invocation: Invocation, shown: () => Renderer | undefined): ChooseReading {
  return async (question, signal = new AbortController().signal) =>
    chosenIn(
      question,
      await answerOnTerminal(invocation, shown, () => Promise.resolve(readingsQuestion(question)), signal),
    )
}

type Question = Parameters<ChooseReading>[0]

/** The question which of the readings was meant, with a number for each. */
export function readingsQuestion({ readings }: Question): string {
  const lines = readings.map(({ name, arguments: args }, index) =>
    `  ${index + 1}  ${neutralise(name)} ${argumentsToPermit(args)}`.trimEnd(),
  )
  return `Did you mean\n${lines.join("\n")}\n[${readings.map((_, index) => index + 1).join("/")}/N] `
}

/** The index of the reading that an answer names. */
export function chosenIn({ readings }: Question, answer: string): number | undefined {
  const number = /^\d$/.test(answer.trim()) ? Number(answer) : 0
  return number >= 1 && number <= readings.length ? number - 1 : undefined
}

async function answerOnTerminal(
  { stderr }: Invocation,
  shown: () => Renderer | undefined,
  question: () => Promise<string>,
  signal: AbortSignal,
): Promise<string> {
  shown()?.hold?.()
  const { createInterface } = await import("node:readline/promises")
  const terminal = createInterface({ input: process.stdin })
  const closed = new Promise<undefined>((resolve) => terminal.once("close", () => resolve(undefined)))
  try {
    const text = await question()
    await untilTypedIsRead(signal)
    stderr.write(`\r\u001b[2K${text}`)
    const answer = await Promise.race([terminal.question("", { signal }), closed])
    if (answer === undefined) stderr.write("\n")
    return answer?.trim() ?? ""
  } catch {
    return ""
  } finally {
    terminal.close()
    shown()?.release?.()
  }
}
