import { isObject, pretty } from "../lib/json.ts"
import { count, duration, visible } from "../lib/text.ts"
import { who } from "../lib/who.ts"
import { Body } from "../ui/body.tsx"
import { Heading, type Fields } from "./parts.tsx"

type Term = readonly [term: string, value: string]

/** What an event says, as what it is; of kinds that are not known here the log's own text stands below. */
export function About({ type, fields = {} }: { type: string; fields?: Fields | undefined }) {
  const terms = (TERMS[type]?.(fields) ?? []).filter(([, value]) => value !== "")
  const { title, text } = TEXTS[type]?.(fields) ?? {}
  return (
    <>
      {terms.length === 0 ? null : (
        <dl className="m-0 grid grid-cols-[max-content_1fr] gap-x-3 gap-y-0.5 text-[12.5px]">
          {terms.map(([term, value]) => (
            <div key={term} className="contents">
              <dt className="text-soft">{term}</dt>
              <dd className="m-0 break-words whitespace-pre-wrap">{visible(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {title === undefined || text === undefined || text === "" ? null : (
        <div>
          <Heading>{title}</Heading>
          <Body text={text} label={title} />
        </div>
      )}
    </>
  )
}

/** Whether an event is told in words here. */
export const isTold = (type: string): boolean => TERMS[type] !== undefined || TEXTS[type] !== undefined

const list = (value: unknown): string => (Array.isArray(value) ? value.map(String).join("\n") : "")
const said = (value: unknown): string => (value === undefined || value === null ? "" : String(value))
const written = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : pretty(value)

const TERMS: Readonly<Record<string, (fields: Fields) => readonly Term[]>> = {
  "run-start": ({ agent, model, format, because, tools }) => [
    ["agent", said(agent)],
    ["model", said(model)],
    ["calls are written as", said(format)],
    ["because", said(because)],
    ["tools", Array.isArray(tools) ? tools.join(", ") : ""],
  ],
  "phase-start": ({ index, of, maxRounds, tools }) => [
    ["phase", `${said(index)} of ${said(of)}`],
    ["over after round", said(maxRounds)],
    ["tools", Array.isArray(tools) ? tools.join(", ") : ""],
  ],
  "phase-end": ({ index, of, rounds }) => [
    ["phase", `${said(index)} of ${said(of)}`],
    ["took", count(Number(rounds ?? 0), "round")],
  ],
  "tools-changed": ({ added, removed }) => [
    ["now there", list(added)],
    ["gone", list(removed)],
  ],
  "parse-problem": ({ kind, message, repaired, tool }) => [
    ["kind", said(kind)],
    ["what is wrong", said(message)],
    ["tool", said(tool)],
    ["put right", repaired === true ? "yes" : "no"],
  ],
  "model-retry": ({ attempt, delayMs, reason, code }) => [
    ["attempt", said(attempt)],
    ["after", duration(Number(delayMs))],
    ["because", said(reason)],
    ["code", said(code)],
  ],
  "delivery-fallback": ({ from, to, reason }) => [
    ["from", said(from)],
    ["to", said(to)],
    ["because", said(reason)],
  ],
  "completion-refused": ({ reasons }) => [["because", list(reasons)]],
  "approval-ask": ({ name, question }) => [
    ["call of", said(name)],
    ["because", said(question)],
  ],
  "approval-answer": ({ state, by, note }) => [
    ["answer", said(state)],
    ["by", who(said(by))],
    ["note", said(note)],
  ],
  "trial-end": ({ task, model, trial, verdict, outcome, run, score, answer }) => [
    ["task", said(task)],
    ["model", said(model)],
    ["trial", said(trial)],
    ["verdict", said(verdict)],
    ["score", said(score)],
    ["its run", said(run)],
    ["ended as", said(outcome)],
    ["answer", said(answer)],
  ],
  "undo-start": ({ of, by, paths }) => [
    ["what", said(of)],
    ["for", who(said(by))],
    ["files", list(paths)],
  ],
  "undo-end": ({ restored, refused }) => [
    ["taken back", list(restored)],
    ["left as they are", list(Array.isArray(refused) ? refused.map(stays) : [])],
  ],
  "run-end": ({ summary }) => endTerms(isObject(summary) ? summary : {}),
}

const stays = (each: unknown): string => (isObject(each) ? `${said(each.path)}: ${said(each.reason)}` : said(each))

function endTerms({
  outcome,
  rounds,
  calls,
  failedCalls,
  inputTokens,
  outputTokens,
  modifiedFiles,
  times,
}: Fields): Term[] {
  const { totalMs, modelMs, toolMs } = isObject(times) ? times : {}
  const failed = Number(failedCalls ?? 0)
  return [
    ["outcome", said(outcome).replaceAll("-", " ")],
    ["rounds", said(rounds)],
    ["calls", `${said(calls)}${failed === 0 ? "" : `, ${failed} of them failed`}`],
    ["tokens", `${said(inputTokens)} read, ${said(outputTokens)} written`],
    ["time", `${duration(Number(totalMs))}: ${duration(Number(modelMs))} the model, ${duration(Number(toolMs))} tools`],
    ["changed", list(modifiedFiles)],
  ]
}

const TEXTS: Readonly<Record<string, (fields: Fields) => { title: string; text: string }>> = {
  "run-start": ({ task }) => ({ title: "Task", text: written(task) }),
  "phase-end": ({ artifact }) =>
    isObject(artifact)
      ? { title: `Handed over: ${said(artifact.name)}`, text: written(artifact.value) }
      : { title: "Handed over", text: "" },
  "parse-problem": ({ text }) => ({ title: "What the model wrote", text: written(text) }),
  nudge: ({ text }) => ({ title: "What the model was told", text: written(text) }),
  "loop-detected": ({ text }) => ({ title: "What the model was told", text: written(text) }),
  "completion-refused": ({ text }) => ({ title: "What the model was told", text: written(text) }),
  "run-end": ({ summary, error }) => ({
    title: isObject(error) ? "Why it ended" : "Answer",
    text: isObject(error)
      ? [error.message, error.hint].map(said).filter(Boolean).join("\n")
      : written(isObject(summary) ? summary.message : undefined),
  }),
}
