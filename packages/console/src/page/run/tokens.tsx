import { tokenSteps, type ArgumentOrigin, type TokenStep, type TokenTrace } from "@toolwright/toolbox/token-trace"
import { useMemo, useState, type KeyboardEvent } from "react"
import { isObject } from "../lib/json.ts"
import { count, visible } from "../lib/text.ts"
import { Badge, Loading, Problem } from "../ui/states.tsx"
import { Heading, useBody } from "./parts.tsx"

/** Tokens that are shown at first; there are few replies with more. */
const SHOWN = 3000

/** How a model came to a reply: its tokens, what else it could have written, and what the grammar removed. */
export function Tokens({ seq, raw }: { seq: number; raw: string | undefined }) {
  const { data, error } = useBody(seq)
  if (error !== null) return <Problem title="Its tokens cannot be shown" error={error} />
  if (data === undefined) return <Loading />
  const { trace, withheld } = data.fields ?? {}
  if (withheld === true) return <p className="text-soft">Not recorded, since a secret stands in the reply.</p>
  return isObject(trace) ? <TokenView trace={trace} raw={raw} /> : null
}

function TokenView({ trace, raw }: { trace: Partial<TokenTrace>; raw: string | undefined }) {
  const steps = useMemo(() => tokenSteps(trace), [trace])
  const [most, setMost] = useState(SHOWN)
  const [at, setAt] = useState(() => leastSure(steps))
  const shown = steps.slice(0, most)
  const step = steps[at]
  const written = steps.map(({ text, end }) => (end === true ? "" : text)).join("")
  return (
    <div className="flex flex-col gap-2">
      {trace.problem === undefined ? null : <p className="m-0 text-warn">{visible(String(trace.problem))}</p>}
      {raw === undefined || raw.trim() === written.trim() ? null : (
        <p className="m-0 text-soft">Another reply was given in place of these words.</p>
      )}
      <TokenText steps={shown} at={at} setAt={setAt} />
      {steps.length > most ? (
        <button type="button" className="button self-start" onClick={() => setMost(steps.length)}>
          Show {count(steps.length - most, "token")} more
        </button>
      ) : null}
      {step === undefined ? null : <Choices step={step} place={at} of={steps.length} />}
    </div>
  )
}

/** The place at which another token was likeliest: what somebody wants to look at. */
function leastSure(steps: readonly TokenStep[]): number {
  return steps.reduce((worst, { chance }, index) => (chance < steps[worst]!.chance ? index : worst), 0)
}

const toneOf = ({ chance, removed = 0 }: TokenStep): string =>
  `${chance < 0.5 ? "bg-bad/25" : chance < 0.9 ? "bg-warn/25" : ""} ` +
  `${removed >= 0.01 ? "underline decoration-dotted underline-offset-2" : ""}`

interface TextProps {
  steps: readonly TokenStep[]
  at: number
  setAt: (at: number) => void
}

function TokenText({ steps, at, setAt }: TextProps) {
  const moves: Readonly<Record<string, number>> = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    Home: 0,
    End: steps.length - 1,
  }
  const press = (event: KeyboardEvent): void => {
    const to = moves[event.key]
    if (to === undefined) return
    event.preventDefault()
    setAt(Math.max(0, Math.min(steps.length - 1, to)))
  }
  return (
    <div
      className="code max-h-[40vh]"
      role="listbox"
      tabIndex={0}
      aria-label="Tokens of the reply"
      aria-activedescendant={`token-${at}`}
      onKeyDown={press}
    >
      {steps.map((step, index) => (
        <span
          key={index}
          id={`token-${index}`}
          role="option"
          aria-selected={index === at}
          aria-label={`${spoken(step)}, ${percent(step.chance)}`}
          className={
            `cursor-pointer rounded-sm ${toneOf(step)} ` +
            `${index === at ? "outline-2 outline-accent" : "hover:outline hover:outline-line"}`
          }
          onClick={() => setAt(index)}
        >
          {step.end === true ? (
            <span className="rounded-sm border border-line px-1 text-[10px] text-soft">end</span>
          ) : (
            withBreaks(step.text)
          )}
        </span>
      ))}
    </div>
  )
}

/** A line break is seen, and breaks the line. */
const withBreaks = (text: string): string => visible(text).replaceAll("\n", "↵\n")
const spoken = ({ text, end }: TokenStep): string =>
  end === true ? "the end" : text.trim() === "" ? "white space" : visible(text)

function Choices({ step, place, of }: { step: TokenStep; place: number; of: number }) {
  const { allowed, removed = 0 } = step
  const all = [{ ...step, removed: false, own: true }, ...step.others.map((other) => ({ ...other, own: false }))]
  return (
    <section aria-label="What could have come here" className="rounded-md border border-line p-2">
      <p className="m-0 mb-1.5 text-[12px] text-soft">
        Token {place + 1} of {of}.{" "}
        {allowed === undefined
          ? "Nothing held the model here."
          : `The grammar let ${count(allowed, "token")} ` +
            `through${removed < 0.0005 ? "." : `, and removed ${percent(removed)} of what the model would have written.`}`}
      </p>
      <ul className="m-0 flex list-none flex-col gap-1 p-0">
        {all.map(({ text, chance, removed: gone, own }, index) => (
          <li key={index} className="grid grid-cols-[minmax(6rem,11rem)_1fr_3.5rem] items-center gap-2 text-[12px]">
            <code className={`truncate ${gone ? "text-soft line-through" : own ? "font-semibold" : ""}`}>
              {own && step.end === true ? "the end" : shownText(text)}
            </code>
            <span className="flex items-center gap-2">
              <span
                className={`h-2 rounded-sm ${gone ? "bg-bad/60" : own ? "bg-accent" : "bg-soft/60"}`}
                style={{ width: `${Math.max(1, 100 * chance)}%` }}
              />
              {gone ? <span className="flex-none text-bad">removed</span> : null}
            </span>
            <span className="text-right font-mono">{percent(chance)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const shownText = (text: string): string =>
  visible(
    JSON.stringify(text)
      .slice(1, -1)
      .replaceAll(String.raw`\"`, '"'),
  ).replaceAll(" ", "␣")
const percent = (chance: number): string => `${(100 * chance).toFixed(1)} %`

/** From which words of the conversation each argument of a call comes. */
export function Origins({ seq, callId }: { seq: number; callId: string | undefined }) {
  const { data } = useBody(seq)
  const all = Array.isArray(data?.fields?.origins) ? (data.fields.origins as ArgumentOrigin[]) : []
  const origins = all.filter((origin) => origin.callId === callId)
  if (origins.length === 0) return null
  return (
    <section aria-label="Where the arguments come from">
      <Heading>Where the arguments come from</Heading>
      <ul className="m-0 flex list-none flex-col gap-1 p-0 text-[13px]">
        {origins.map(({ argument, held, places }) => (
          <li key={argument} className="flex flex-wrap items-baseline gap-x-2">
            <code>{visible(argument)}</code>
            {places.length === 0 ? <span className="text-warn">stands nowhere in what was said</span> : null}
            {places.map((place, index) => (
              <span key={index}>
                <q className="font-mono text-[12px] text-soft">
                  {visible(flat(place.before))}
                  <mark className="bg-accent/20 font-semibold text-ink">{visible(flat(place.text))}</mark>
                  {visible(flat(place.after))}
                </q>{" "}
                <span className="text-soft">
                  {visible(place.role)}, message {place.message}
                </span>
              </span>
            ))}
            {held === undefined ? null : (
              <Badge title="The grammar let nothing else through">held to what was said: {visible(held)}</Badge>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

const flat = (text: string): string => text.replaceAll(/\s+/g, " ")
