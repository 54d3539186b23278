import { useQuery } from "@tanstack/react-query"
import { isObject, parse, pretty } from "../lib/json.ts"
import { bytes, duration, visible } from "../lib/text.ts"
import { Body } from "../ui/body.tsx"
import { CopyMenu } from "../ui/copy.tsx"
import { Badge, Loading, Problem } from "../ui/states.tsx"
import type { EventBody } from "../runs/data.ts"
import { BranchHere, EditAndRun } from "./actions.tsx"
import type { Row } from "./rows.ts"
import { useBodies } from "./source.ts"

type Fields = Record<string, unknown>

function useBody(seq: number | undefined) {
  const bodies = useBodies()
  return useQuery({
    queryKey: ["body", bodies, seq],
    enabled: seq !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const answer = await bodies.body(seq!)
      const parsed = answer.size === answer.text.length ? parse(answer.text) : { problem: "" }
      return { answer, fields: "value" in parsed && isObject(parsed.value) ? parsed.value : undefined }
    },
  })
}

/** Everything about one line. */
export function Detail({ row, reply, close }: { row: Row; reply: number | undefined; close: () => void }) {
  return (
    <aside
      aria-label="Detail"
      className="flex min-h-0 w-[min(46%,44rem)] flex-none flex-col gap-3 overflow-auto border-l border-line bg-panel p-3 max-lg:absolute max-lg:inset-0 max-lg:z-10 max-lg:w-full max-lg:border-l-0"
    >
      <div className="flex items-center gap-2">
        <h2 className="min-w-0 flex-1 truncate font-mono text-sm font-semibold">{visible(row.name ?? row.type)}</h2>
        <button type="button" className="button" onClick={close} aria-label="Close the detail">
          ✕
        </button>
      </div>
      {row.kind === "call" ? <CallDetail row={row} reply={reply} /> : <EventDetail row={row} />}
    </aside>
  )
}

function EventDetail({ row }: { row: Row }) {
  const { data, error } = useBody(row.request ?? row.seq)
  if (error !== null) return <Problem title="It cannot be shown" error={error} />
  if (data === undefined) return <Loading />
  return (
    <>
      <Facts row={row} body={data.answer} />
      <div>
        <BranchHere seq={row.seq} />
      </div>
      {row.kind === "reply" && data.fields !== undefined ? <ReplyParts fields={data.fields} /> : null}
      <Folded title="The event as it stands in the log" open={row.kind !== "reply"}>
        <RawBody body={data.answer} fields={data.fields} />
      </Folded>
    </>
  )
}

function ReplyParts({ fields: { raw, reasoning, content } }: { fields: Fields }) {
  return (
    <>
      {typeof reasoning === "string" && reasoning !== "" ? (
        <Folded title="Reasoning">
          <Body text={reasoning} label="Reasoning" />
        </Folded>
      ) : null}
      {typeof content === "string" && content !== "" ? <Body text={content} label="Content" /> : null}
      {typeof raw === "string" && raw !== content ? (
        <Folded title="Raw text, as the model wrote it" open>
          <Body text={raw} label="Raw text" />
        </Folded>
      ) : null}
    </>
  )
}

function CallDetail({ row, reply }: { row: Row; reply: number | undefined }) {
  const start = useBody(row.type === "tool-end" ? undefined : row.seq)
  const end = useBody(row.type === "tool-end" ? row.seq : row.endSeq)
  if (start.error !== null) return <Problem title="It cannot be shown" error={start.error} />
  const { arguments: args, repairs, provenance } = start.data?.fields ?? {}
  const { result } = (end.data?.fields ?? {}) as { result?: Fields }
  return (
    <>
      <Facts row={row} body={start.data?.answer ?? end.data?.answer} />
      <ArgumentsPart name={row.name} args={args} body={start.data?.answer} seq={row.endSeq ?? row.seq} />
      <Repairs repairs={repairs} />
      <ResultPart
        result={result}
        body={end.data?.answer}
        pending={row.endSeq === undefined && row.type !== "tool-end"}
      />
      <RawReply seq={reply} callId={row.callId} />
      <Provenance provenance={provenance} />
    </>
  )
}

interface ArgumentsProps {
  name: string | undefined
  args: unknown
  body: EventBody | undefined
  seq: number
}

function ArgumentsPart({ name, args, body, seq }: ArgumentsProps) {
  const text = args === undefined ? undefined : pretty(args)
  return (
    <>
      <section aria-label="Arguments">
        <h3 className="mb-1 text-[12px] font-semibold text-soft uppercase">Arguments</h3>
        {body === undefined ? (
          <Loading />
        ) : text === undefined ? (
          <RawBody body={body} fields={undefined} />
        ) : (
          <Body text={text} label="Arguments of the call" />
        )}
      </section>
      <div className="flex flex-wrap items-center gap-2">
        {text === undefined || name === undefined ? null : (
          <>
            <EditAndRun name={name} args={text} />
            <CopyMenu name={name} args={text} />
          </>
        )}
        <BranchHere seq={seq} />
      </div>
    </>
  )
}

function ResultPart({
  result,
  body,
  pending,
}: {
  result: Fields | undefined
  body: EventBody | undefined
  pending: boolean
}) {
  if (pending)
    return (
      <p role="status" className="text-warn">
        It runs…
      </p>
    )
  if (body === undefined) return null
  const error = result?.error as Fields | undefined
  const output = result?.output
  const data = result?.data
  return (
    <section aria-label="Result of the call" className="flex flex-col gap-2">
      <h3 className="text-[12px] font-semibold text-soft uppercase">Result</h3>
      {error === undefined ? null : (
        <p className="whitespace-pre-wrap text-bad">
          {visible(`${String(error.code)}: ${String(error.message)}`)}
          {typeof error.hint === "string" ? <span className="block text-soft">{visible(error.hint)}</span> : null}
        </p>
      )}
      {result === undefined ? <RawBody body={body} fields={undefined} /> : null}
      {typeof output === "string" ? <OutputBody output={output} /> : null}
      {data === undefined || data === null || typeof data === "string" ? null : (
        <Folded title="Data">
          <Body text={pretty(data)} label="Data" />
        </Folded>
      )}
    </section>
  )
}

const DIFF = /^(?:diff --git |--- |@@ )/m

/** What a tool has said; lines of a diff in it have their colours. */
function OutputBody({ output }: { output: string }) {
  if (output.length > 200_000 || !DIFF.test(output) || !output.includes("@@"))
    return <Body text={output} label="Output" />
  return (
    <pre className="code max-h-[60vh]" tabIndex={0} role="region" aria-label="Output with a diff">
      {output.split("\n").map((line, index) => (
        <span
          key={index}
          className={
            line.startsWith("+")
              ? "block text-good"
              : line.startsWith("-")
                ? "block text-bad"
                : line.startsWith("@@")
                  ? "block text-accent"
                  : "block"
          }
        >
          {visible(line) || " "}
        </span>
      ))}
    </pre>
  )
}

/** The reply that a call was read from. */
function RawReply({ seq, callId }: { seq: number | undefined; callId: string | undefined }) {
  const { data } = useBody(seq)
  const raw = data?.fields?.raw
  if (typeof raw !== "string" || raw === "") return null
  const calls = Array.isArray(data?.fields?.calls) ? (data.fields.calls as Fields[]) : []
  const call = calls.find(({ id }) => id === callId)
  return (
    <Folded title={`Raw text of the reply${typeof call?.path === "string" ? `, read as ${visible(call.path)}` : ""}`}>
      <Body text={raw} label="Raw text of the reply" />
    </Folded>
  )
}

function Repairs({ repairs }: { repairs: unknown }) {
  if (!Array.isArray(repairs) || repairs.length === 0) return null
  return (
    <section aria-label="Repairs">
      <h3 className="mb-1 text-[12px] font-semibold text-soft uppercase">Put right before it ran</h3>
      <ul>
        {(repairs as Fields[]).map(({ path, kind, from, to }, index) => (
          <li key={index} className="text-[13px]">
            <Badge tone="warn">{visible(String(kind))}</Badge> <code>{visible(String(path) || "the call")}</code>:{" "}
            {visible(JSON.stringify(from) ?? "")} → {visible(JSON.stringify(to) ?? "")}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Provenance({ provenance }: { provenance: unknown }) {
  if (!isObject(provenance)) return null
  return (
    <Folded title="Where the tool comes from">
      <Body text={pretty(provenance)} label="Where the tool comes from" />
    </Folded>
  )
}

function Facts({ row, body }: { row: Row; body: EventBody | undefined }) {
  const facts: [string, string][] = [
    ["event", row.endSeq === undefined ? String(row.seq) : `${row.seq} to ${row.endSeq}`],
    ["time", new Date(row.time).toLocaleTimeString(undefined, { hour12: false })],
    ...(row.ms === undefined ? [] : ([["took", duration(row.ms)]] as [string, string][])),
    ...(row.tokens === undefined ? [] : ([["tokens", String(row.tokens)]] as [string, string][])),
    ...(body === undefined
      ? []
      : ([
          ["size", bytes(body.size)],
          ["hash", body.hash.slice(0, 12)],
        ] as [string, string][])),
  ]
  return (
    <dl className="m-0 flex flex-wrap gap-x-4 gap-y-0.5 text-[12px] text-soft">
      {facts.map(([name, value]) => (
        <div key={name} className="flex gap-1">
          <dt>{name}</dt>
          <dd className="m-0 font-mono text-ink">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function RawBody({ body, fields }: { body: EventBody; fields: Fields | undefined }) {
  if (body.erased === true)
    return <p className="text-soft">It was erased. That it was there, the chain of hashes still proves.</p>
  return <Body text={fields === undefined ? body.text : pretty(fields)} label="The event" />
}

function Folded({ title, open = false, children }: { title: string; open?: boolean; children: React.ReactNode }) {
  return (
    <details open={open}>
      <summary className="cursor-pointer text-[13px] text-soft">{title}</summary>
      <div className="mt-1">{children}</div>
    </details>
  )
}
