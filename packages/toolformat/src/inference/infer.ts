import { printCalls } from "../engine/print.ts"
import type { Format, IdPolicy } from "../engine/syntax.ts"
import { FORMATS } from "../formats/index.ts"
import { toolLinesPrompt } from "../formats/prompts.ts"
import { resultText } from "../formats/results.ts"
import { think } from "../formats/syntaxes.ts"
import { isGoTemplate, recogniseTemplate } from "../selector/template-markers.ts"
import { fitAll, type Fitted } from "./fit/index.ts"
import { jinjaOfGoCalls } from "./go-template.ts"
import { judge, type Judgement } from "./judge.ts"
import { PLAIN, probeTools, WORDS } from "./probes.ts"
import { seenReasoning, type SeenReasoning } from "./reasoning.ts"
import { renderingsOf, type Renderings, type TemplateSettings } from "./renderings.ts"
import { samplesOf } from "./samples.ts"
import { seenResult, seenTools } from "./sections.ts"
import { marksIn } from "./text.ts"

/** How sure an inference is: every probe read back, nearly every one, or fewer. */
export type Certainty = "sure" | "likely" | "unsure"

/** What was found out about a model family from its chat template alone. */
export interface FormatInference {
  /** The format, ready for use; undefined where the template shows no calls. */
  format: Format | undefined
  certainty: Certainty
  /** What was seen, a sentence each. */
  seen: readonly string[]
  /** What could not be seen, or is said otherwise than the template does, a sentence each. */
  unseen: readonly string[]
  /** The counts from which the certainty comes. */
  judgement: Judgement | undefined
  /** The format by hand whose marks the template has. */
  recognised: string | undefined
  /** Formats by hand that print these calls with the same words and marks. */
  same: readonly string[]
  /** Whether the prompt already opened the reasoning, so that a reply begins inside it. */
  startsInReasoning: boolean
}

/**
 * Infers how a model family writes tool calls from its chat template: shows the template conversations made up for it,
 * and compares what comes out. What it finds is a {@link Format}, of which prompt, printer, parser and grammar are
 * readings, as of those written by hand.
 *
 * It says how sure it is and what it could not see. Sure means that every probe that the template takes was read back
 * from the template's own text as the calls it was made of, wherever the text was cut.
 *
 * @param source the template in Jinja
 * @throws TemplateError `TEMPLATE_SYNTAX`
 * @example
 * const { format, certainty, unseen } = inferFormat(await readFile("chat_template.jinja", "utf8"))
 */
export function inferFormat(source: string, settings: TemplateSettings & { id?: string } = {}): FormatInference {
  const { id = `inferred-${hashOf(source)}`, ...rest } = settings
  const recognised = recogniseTemplate(source)?.formatId
  if (isGoTemplate(source)) return inferFromGo(source, { ...rest, id }, recognised)
  const renderings = renderingsOf(source, rest)
  const reasoning = seenReasoning(renderings)
  const samples = samplesOf(renderings)
  const common = { recognised, startsInReasoning: reasoning.opened }
  if (samples === undefined) return { ...common, ...nothingSeen(renderings) }
  const judged = fitAll(samples).map((fitted) => {
    const format = formatFrom(fitted, { id, renderings, reasoning })
    return { fitted, format, judgement: judge(format, renderings) }
  })
  const best = judged.reduce<(typeof judged)[number] | undefined>(
    (winner, each) => (winner === undefined || better(each.judgement, winner.judgement) ? each : winner),
    undefined,
  )
  if (best === undefined || best.judgement.read === 0)
    return {
      ...common,
      ...nothingSeen(renderings),
      unseen: [`Calls are shown in a form that is not known: ${JSON.stringify(samples.one)}.`],
    }
  return {
    ...common,
    format: best.format,
    judgement: best.judgement,
    certainty: certaintyOf(best.judgement),
    ...told(best, { renderings, reasoning, hasPair: samples.pair !== undefined }),
    same: sameAs(best.format),
  }
}

/** Where no format by hand has its marks, what can be read off a template of Ollama's own. */
function inferFromGo(
  source: string,
  settings: TemplateSettings & { id: string },
  recognised: string | undefined,
): FormatInference {
  const calls = recognised === undefined ? jinjaOfGoCalls(source) : undefined
  const inference = calls === undefined ? undefined : inferFormat(calls, settings)
  if (inference?.format === undefined)
    return { ...NOTHING, recognised, startsInReasoning: false, unseen: [GO_TEMPLATE] }
  // All else that the template says, nobody has looked at.
  const certainty = inference.certainty === "sure" ? "likely" : inference.certainty
  return { ...inference, certainty, unseen: [GO_CALLS] }
}

/** Tells templates apart, since grammars are kept by a format's id. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, "0")
}

const NOTHING = {
  format: undefined,
  certainty: "unsure",
  seen: [],
  judgement: undefined,
  same: [],
} as const satisfies Partial<FormatInference>

const GO_TEMPLATE =
  "This is a template of Ollama's own, in Go's language, which is not rendered here: only its marks were looked " +
  "at. The chat template in the model's GGUF file, or in its tokenizer_config.json, says more."

const GO_CALLS =
  "This is a template of Ollama's own, in Go's language, which is not rendered here: how it writes calls was " +
  "read off it, and nothing else of it was seen. The chat template in the model's GGUF file, or in its " +
  "tokenizer_config.json, says more."

function nothingSeen({ refusal }: Renderings): Omit<FormatInference, "recognised" | "startsInReasoning"> {
  const why = refusal === undefined ? "" : ` It refused some: ${refusal}`
  return { ...NOTHING, unseen: [`The template shows no calls that it is given.${why}`] }
}

/** Of two that do the same, the one that was tried first. */
function better(one: Judgement, other: Judgement): boolean {
  return one.read === other.read ? one.printed > other.printed + 1 : one.read > other.read
}

function certaintyOf({ read, shown }: Judgement): Certainty {
  if (read === shown) return "sure"
  return read >= shown * 0.8 ? "likely" : "unsure"
}

/** What a format is made of beside its call syntax. */
interface Parts {
  id: string
  renderings: Renderings
  reasoning: SeenReasoning
}

function formatFrom({ syntax, turnEnd, ids }: Fitted, { id, renderings, reasoning }: Parts): Format {
  const own = marksIn(renderings.turnEnd)
  const usualEnds = own.length > 0 ? own : marksIn(renderings.nextTurn).slice(0, 1)
  // the mark that also ends the user's turn, else the last one
  const [userEnd] = marksIn(renderings.answerStart)
  const end = usualEnds.find((mark) => mark === userEnd) ?? usualEnds.at(-1)
  const ends = [
    ...new Set([...usualEnds.slice(0, end === undefined ? 0 : usualEnds.indexOf(end) + 1), ...marksIn(turnEnd)]),
  ]
  const stop = [...new Set([...(end === undefined ? [] : [end]), ...marksIn(turnEnd).slice(-1)])]
  const usual = reasoning.syntax
  return {
    id,
    aliases: [],
    title: "Inferred from a chat template",
    calls: [syntax],
    reasoning:
      usual === undefined
        ? think
        : { open: [...new Set([...usual.open, ...think.open])], close: [...new Set([...usual.close, ...think.close])] },
    framing: ends,
    ids: ids ?? idsSeen(renderings),
    stop,
    prompt: seenTools(renderings) ?? toolLinesPrompt,
    result: seenResult(renderings) ?? ((_call, result) => resultText(result)),
    templateMarkers: [],
  }
}

/** Templates that refuse ids of other lengths want nine letters and digits. */
function idsSeen(renderings: Renderings): IdPolicy {
  const long = PLAIN.one.map((call) => ({ ...call, id: "call_0123456789abcdef" }))
  return renderings.reply(long) === undefined ? "nine" : "call"
}

interface Seen {
  fitted: Fitted
  format: Format
  judgement: Judgement
}

/** What was seen and what not, in sentences. */
function told(
  { fitted, format, judgement }: Seen,
  { renderings, reasoning, hasPair }: { renderings: Renderings; reasoning: SeenReasoning; hasPair: boolean },
): { seen: string[]; unseen: string[] } {
  const call = printCalls(format, PLAIN.one, probeTools())
    .replaceAll(WORDS.first, "f")
    .replaceAll(WORDS.key, "k")
    .replaceAll(WORDS.value, "v")
  const seen = [`A call f(k="v") is ${JSON.stringify(call)}.`]
  const unseen: string[] = [...fitted.notes]
  if (hasPair)
    seen.push(fitted.syntax.together === true ? "Several calls share one block." : "Several calls follow each other.")
  else unseen.push("Several calls in one message: the template shows one at most.")
  if (reasoning.syntax === undefined) unseen.push("Reasoning: the template shows none; <think> is read all the same.")
  else
    seen.push(
      `Reasoning stands between '${reasoning.syntax.open[0]}' and ` +
        `'${reasoning.syntax.close[0]}'${reasoning.opened ? ", opened by the prompt" : ""}.`,
    )
  if (seenTools(renderings) === undefined)
    unseen.push("Tools: the template has no list that fits into a system message; our own list takes its place.")
  else seen.push("Tools are listed as the template does.")
  if (seenResult(renderings) === undefined)
    unseen.push("Results: the template shows none; they are given as plain text.")
  if (format.stop.length > 0) seen.push(`A turn ends in ${format.stop.join(" or ")}.`)
  else unseen.push("The mark that ends a turn.")
  for (const what of judgement.notShown) unseen.push(`The template takes no ${what}.`)
  for (const what of judgement.unread) unseen.push(`Its own text of ${what} cannot be read back.`)
  return { seen, unseen }
}

/** The formats by hand that print the probes with the same words and marks, white space aside. */
function sameAs(format: Format): string[] {
  const tools = probeTools()
  const plain = (each: Format): string =>
    [PLAIN.one, PLAIN.two, PLAIN.pair]
      .map((calls) => printCalls(each, calls, tools))
      .join("\n")
      .replaceAll(/\s+/g, "")
  const wanted = plain(format)
  return FORMATS.filter((each) => each.apiOnly === undefined && plain(each) === wanted).map((each) => each.id)
}
