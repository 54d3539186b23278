import { isObject, parse, pretty } from "../lib/json.ts"
import { count, visible } from "../lib/text.ts"
import { Loading, Problem } from "../ui/states.tsx"
import { leaningsOf } from "./words.ts"
import { Folded, Heading, Kept, readable, useBody, type Fields } from "./parts.tsx"

/** What a model was sent: what is new in its prompt, the tools, and the grammar that held its reply. */
export function RequestDetail({ seq }: { seq: number }) {
  const { data, error } = useBody(seq)
  if (error !== null) return <Problem title="It cannot be shown" error={error} />
  if (data === undefined) return <Loading />
  const { prompt, tools, toolCount, context, toolBias } = data.fields ?? {}
  const leanings = leaningsOf(toolBias)
  const { keep, add } = isObject(prompt) ? prompt : {}
  const added = Array.isArray(add) ? add.filter((each) => typeof each === "string") : []
  const kept = Number(keep ?? 0)
  return (
    <section aria-label="What the model was sent" className="flex flex-col gap-1.5">
      <Heading>What the model was sent</Heading>
      {kept === 0 ? null : <p className="m-0 text-soft">{count(kept, "message")} as in the request before, and</p>}
      {added.map((hash, index) => (
        <Folded key={hash} title={`message ${kept + index}`} open={index === added.length - 1}>
          <Kept seq={seq} hash={hash} label={`Message ${kept + index}`} as={messageText} />
        </Folded>
      ))}
      {typeof tools !== "string" || toolCount === 0 ? null : (
        <Folded title={count(Number(toolCount ?? 0), "tool")}>
          <Kept seq={seq} hash={tools} label="Tools of the request" as={readable} />
        </Folded>
      )}
      <GrammarOf seq={seq} fields={data.fields} />
      {leanings === "" ? null : <p className="m-0 text-soft">Names of tools weighed, in logits: {visible(leanings)}</p>}
      {isObject(context) ? <Window context={context} /> : null}
    </section>
  )
}

/** How full the model's window was. */
function Window({ context: { tokens, contextTokens, utilisation, leftOut } }: { context: Fields }) {
  const left = Number(leftOut ?? 0)
  const share = Math.round((100 * Number(tokens)) / Math.max(1, Number(contextTokens)))
  return (
    <div className="flex flex-col gap-1 text-soft">
      <p className="m-0">
        About {String(tokens)} of {String(contextTokens)} tokens of its window, {share} % (
        {visible(String(utilisation))}){left === 0 ? "" : `: ${count(left, "message")} left out or in fewer words`}
      </p>
      <meter
        className="h-2 w-full max-w-80"
        min={0}
        max={100}
        high={67}
        value={Math.min(100, share)}
        aria-label="How full the window of the model was"
      />
    </div>
  )
}

function GrammarOf({ seq, fields }: { seq: number; fields: Fields | undefined }) {
  const { grammar, delivery } = fields ?? {}
  if (typeof grammar !== "string")
    return <p className="m-0 text-[12px] text-soft">Sent as {visible(String(delivery))}, without a grammar.</p>
  return (
    <Folded
      title={
        <>
          The grammar that held the reply <code>{grammar.slice(0, 8)}</code>
        </>
      }
    >
      <Kept seq={seq} hash={grammar} label="Grammar" />
    </Folded>
  )
}

/** The same where a call is looked at. */
export function Grammar({ seq }: { seq: number | undefined }) {
  const { data } = useBody(seq)
  return data === undefined || seq === undefined ? null : <GrammarOf seq={seq} fields={data.fields} />
}

/** A message with who says it; calls and results in it as JSON. */
function messageText(json: string): string {
  const parsed = parse(json)
  if (!("value" in parsed) || !isObject(parsed.value)) return json
  const { role, content, ...more } = parsed.value
  const rest = Object.keys(more).length === 0 ? "" : `\n\n${pretty(more)}`
  return `${String(role)}:\n${typeof content === "string" ? content : pretty(content)}${rest}`
}
