import { visible } from "../lib/text.ts"
import { Body } from "../ui/body.tsx"

const TONES: Readonly<Record<string, string>> = {
  call: "bg-accent/20",
  reasoning: "bg-warn/15 italic",
  problem: "bg-bad/20",
  framing: "bg-soft/15",
}
const NAMES: Readonly<Record<string, string>> = {
  content: "words",
  call: "call",
  reasoning: "reasoning",
  problem: "not read",
  framing: "marks",
}
const LONGEST = 100_000

/** A reply as the model wrote it, and what each stretch of it was read as. */
export function RawText({ raw, spans }: { raw: string; spans: unknown }) {
  const stretches = stretchesOf(raw, spans)
  if (stretches === undefined) return <Body text={raw} label="Raw text of the reply" />
  const kinds = [...new Set(stretches.map(({ kind }) => kind))]
  return (
    <>
      <pre className="code max-h-[40vh]" tabIndex={0} role="region" aria-label="Raw text of the reply">
        {stretches.map(({ kind, text }, index) => (
          <span key={index} className={`rounded-sm ${TONES[kind] ?? ""}`} title={NAMES[kind]}>
            {visible(text)}
          </span>
        ))}
      </pre>
      <p className="mt-1 mb-0 flex flex-wrap gap-2 text-[12px]">
        {kinds.map((kind) => (
          <span key={kind} className={`rounded-sm px-1 ${TONES[kind] ?? ""}`}>
            {NAMES[kind] ?? visible(kind)}
          </span>
        ))}
      </p>
    </>
  )
}

function stretchesOf(raw: string, spans: unknown): { kind: string; text: string }[] | undefined {
  if (!Array.isArray(spans) || raw.length > LONGEST) return undefined
  let from = 0
  const stretches = (spans as unknown[]).map((span) => {
    const [kind, end] = Array.isArray(span) ? (span as [unknown, unknown]) : []
    const text = raw.slice(from, Number(end))
    from = Math.max(from, Number(end))
    return { kind: String(kind), text }
  })
  if (from < raw.length) stretches.push({ kind: "content", text: raw.slice(from) })
  return stretches.filter(({ text }) => text !== "")
}
