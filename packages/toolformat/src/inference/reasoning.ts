import type { JsonObject } from "@toolwright/toolbox"
import type { ReasoningSyntax } from "../engine/syntax.ts"
import { PLAIN, WORDS } from "./probes.ts"
import type { Renderings } from "./renderings.ts"
import { marksIn, sameUpTo } from "./text.ts"

/** What a template shows of a model's thinking. */
export interface SeenReasoning {
  syntax: ReasoningSyntax | undefined
  /** Whether the prompt ends in the opening mark, so that a reply begins inside it. */
  opened: boolean
  /** Whether a variable of the template turns it on and off. */
  switched: boolean
}

const USER: JsonObject = { role: "user", content: WORDS.user }
/** The fields in which templates look for what was thought. */
const THOUGHT: JsonObject = {
  reasoning_content: WORDS.thought,
  reasoning: WORDS.thought,
  thinking: WORDS.thought,
}
const CALLS: JsonObject = {
  tool_calls: PLAIN.one.map(({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: { name, arguments: args },
  })),
}
const LONGEST_MARK = 80

/** Finds the marks around thinking by showing the template a reply with thoughts and one without. */
export function seenReasoning(renderings: Renderings): SeenReasoning {
  const on = renderings.thinking([USER], { enable_thinking: true }, true)
  const off = renderings.thinking([USER], { enable_thinking: false }, true)
  const usual = renderings.thinking([USER], {}, true)
  const switched = on !== undefined && off !== undefined && on !== off
  const syntax = aroundThought(renderings) ?? (switched ? fromSwitch(on, off) : undefined) ?? fromPrompt(usual)
  const opening = syntax?.open[0]?.trim()
  return { syntax, switched, opened: opening !== undefined && usual?.trimEnd().endsWith(opening) === true }
}

function aroundThought(renderings: Renderings): ReasoningSyntax | undefined {
  for (const more of [{ content: WORDS.said }, { content: WORDS.said, ...CALLS }]) {
    const without = renderings.thinking([USER, { role: "assistant", ...more }])
    const shown = renderings.thinking([USER, { role: "assistant", ...more, ...THOUGHT }])
    const at = shown?.indexOf(WORDS.thought) ?? -1
    if (shown === undefined || without === undefined || at < 0) continue
    const open = openingBefore(shown.slice(0, at), without)
    if (open !== undefined && renderings.nextTurn.includes(open)) continue
    const behind = shown.slice(at + WORDS.thought.length).split(WORDS.said)[0] ?? ""
    const close = marksIn(behind)[0] ?? behind.trim().split("\n")[0]
    if (open !== undefined && close !== undefined && close !== "" && close.length <= LONGEST_MARK)
      return { open: [open], close: [close] }
  }
  return undefined
}

/** What stands directly before the thought and not before plain text. */
function openingBefore(before: string, without: string): string | undefined {
  const added = before.slice(sameUpTo(before, without)).trim()
  const last = marksIn(before).at(-1)
  const open = added !== "" ? added : last === undefined ? undefined : before.slice(before.lastIndexOf(last)).trim()
  if (open === undefined || open.length > LONGEST_MARK || open === "") return undefined
  return isHeader(open) ? undefined : open
}

/** Whether a mark rather names a speaker, or begins or ends a turn, than a thought. */
function isHeader(mark: string): boolean {
  return (
    !/think|thought|reason|inner|muse|ponder|plan/i.test(mark) &&
    /assistant|user|system|developer|start|begin|header|model|turn|message|_end|end_/i.test(mark)
  )
}

/** A template that can be told not to think closes the block at once. */
function fromSwitch(on: string, off: string): ReasoningSyntax | undefined {
  const marks = marksIn(off.slice(sameUpTo(off, on))).filter((mark) => !/im_start|assistant|start/i.test(mark))
  const [open, close] = marks.length >= 2 ? marks : [...marksIn(on.slice(sameUpTo(on, off))), ...marks]
  return open === undefined || close === undefined || marks.length > 2 || isHeader(open)
    ? undefined
    : { open: [open], close: [close] }
}

/** A prompt that ends in a tag which speaks of thinking. */
function fromPrompt(prompt: string | undefined): ReasoningSyntax | undefined {
  const open = /<(?:[\w:|-]*think[\w:|-]*)>$/i.exec(prompt?.trimEnd() ?? "")?.[0]
  if (open === undefined || /END/.test(open)) return undefined
  if (open.includes("START")) return { open: [open], close: [open.replace("START", "END")] }
  return { open: [open], close: [open.startsWith("<|") ? open.replace("<|", "<|/") : open.replace("<", "</")] }
}
