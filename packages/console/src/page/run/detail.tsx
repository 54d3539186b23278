import { isObject, pretty } from "../lib/json.ts"
import { bytes, duration, visible } from "../lib/text.ts"
import { Body } from "../ui/body.tsx"
import { CopyMenu } from "../ui/copy.tsx"
import { Badge, Loading, Problem } from "../ui/states.tsx"
import type { EventBody } from "../runs/data.ts"
import { BranchHere, EditAndRun } from "./actions.tsx"
import { About, isTold } from "./about.tsx"
import { RunTree, useAskedBy } from "./nested.tsx"
import { Folded, Heading, RawBody, useBody, type Fields } from "./parts.tsx"
import { RawText } from "./raw-text.tsx"
import { Grammar, RequestDetail } from "./request.tsx"
import type { aroundOf, Row } from "./rows.ts"
import { Origins, Tokens } from "./tokens.tsx"
import { answerWords, wordsFor } from "./words.ts"

type Around = ReturnType<typeof aroundOf>

/** Everything about one line. */
export function Detail({ row, around, close }: { row: Row; around: Around; close: () => void }) {
  return (
    <aside
      aria-label="Detail"
      className="flex min-h-0 w-[min(46%,44rem)] flex-none flex-col gap-3 overflow-auto border-l border-line bg-panel p-3 max-lg:absolute max-lg:inset-0 max-lg:z-10 max-lg:w-full max-lg:border-l-0"
    >
      <div className="flex items-center gap-2">
        <h2 className="min-w-0 flex-1 truncate font-mono text-sm font-semibold">{visible(titleOf(row))}</h2>
        <button type="button" className="button" onClick={close} aria-label="Close the detail">
          ✕
        </button>
      </div>
      {row.kind === "call" ? <CallDetail row={row} around={around} /> : <EventDetail row={row} />}
    </aside>
  )
}

/** A call by its name, anything else by what it is. */
function titleOf({ kind, name, type, round }: Row): string {
  if (kind === "call") return name ?? type
  if (kind === "round") return `Round ${round}`
  const words = { start: "Task", end: "End", reply: "Reply", phase: "Phase" }[kind as string] ?? wordsFor(type)
  return name === undefined ? words : `${words} ${name}`
}

function EventDetail({ row }: { row: Row }) {
  const request = row.request ?? (row.type === "request" ? row.seq : undefined)
  const { data, error } = useBody(request ?? row.seq)
  if (error !== null) return <Problem title="It cannot be shown" error={error} />
  if (data === undefined) return <Loading />
  return (
    <>
      <Facts row={row} body={data.answer} />
      <div>
        <BranchHere seq={row.seq} />
      </div>
      {row.kind === "reply" && data.fields !== undefined ? <ReplyParts row={row} fields={data.fields} /> : null}
      {request === undefined ? null : <RequestDetail seq={request} />}
      <About type={row.type} fields={data.fields} />
      <Folded
        title="The event as it stands in the log"
        open={row.kind !== "reply" && request === undefined && !isTold(row.type)}
      >
        <RawBody body={data.answer} fields={data.fields} />
      </Folded>
    </>
  )
}

function ReplyParts({ row, fields: { raw, reasoning, content, spans } }: { row: Row; fields: Fields }) {
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
          <RawText raw={raw} spans={spans} />
        </Folded>
      ) : null}
      {row.traceSeq === undefined ? null : (
        <Folded title="Its tokens: how the model came to it" open>
          <Tokens seq={row.traceSeq} raw={typeof raw === "string" ? raw : undefined} />
        </Folded>
      )}
    </>
  )
}

/** What the log says of a call, before it ran and after. */
function useCall(row: Row) {
  const ended = row.type === "tool-end"
  const start = useBody(ended ? undefined : row.seq)
  const end = useBody(ended ? row.seq : row.endSeq)
  return {
    problem: start.error ?? end.error,
    pending: row.endSeq === undefined && !ended,
    given: start.data,
    said: start.data?.fields ?? {},
    came: end.data,
    told: (end.data?.fields ?? {}) as { result?: Fields; permission?: Fields },
  }
}

function CallDetail({ row, around: { reply, request } }: { row: Row; around: Around }) {
  const { problem, pending, given, said, came, told } = useCall(row)
  if (problem !== null) return <Problem title="It cannot be shown" error={problem} />
  const { arguments: args, repairs, provenance } = said
  return (
    <>
      <Facts row={row} body={given?.answer ?? came?.answer} />
      <ArgumentsPart name={row.name} args={args} body={given?.answer} seq={row.endSeq ?? row.seq} />
      <Repairs repairs={repairs} />
      {reply?.traceSeq === undefined ? null : <Origins seq={reply.traceSeq} callId={row.callId} />}
      <AskedFor call={row.callId} />
      <ResultPart result={told.result} body={came?.answer} pending={pending} />
      <HowItCame row={row} permission={told.permission} provenance={provenance} />
      <RawReply reply={reply} path={row.path} />
      <Grammar seq={request} />
    </>
  )
}

/** The run that the call asked an agent for. */
function AskedFor({ call }: { call: string | undefined }) {
  const runs = useAskedBy(call)
  if (runs.length === 0) return null
  return (
    <section aria-label="What it asked for">
      <Heading>It asked an agent</Heading>
      <RunTree runs={runs} label="Runs that the call asked for" />
    </section>
  )
}

/** How a call was let through, what its tool says of its effect, and where that comes from. */
function HowItCame({ row, permission, provenance }: { row: Row; permission: Fields | undefined; provenance: unknown }) {
  const facts = [...permissionFacts(row, permission), ...toolFacts(row, provenance)]
  if (facts.length === 0) return null
  return (
    <dl aria-label="How it came to run" className="m-0 grid grid-cols-[max-content_1fr] gap-x-3 gap-y-0.5 text-[12px]">
      {facts.map(([term, value]) => (
        <div key={term} className="contents">
          <dt className="text-soft">{term}</dt>
          <dd className="m-0">{visible(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

type Fact = readonly [term: string, value: string]

function permissionFacts({ answered, by }: Row, permission: Fields | undefined): Fact[] {
  if (permission === undefined) return []
  const { ruling, because, answer } = permission
  const told = answered === undefined ? undefined : answerWords(answered, by)
  const said = [ruling, answer, told].filter((each) => each !== undefined).map(String)
  return [
    ["permission", said.join(", ")],
    ["because", String(because)],
  ]
}

function toolFacts({ effect }: Row, provenance: unknown): Fact[] {
  const { kind, name } = isObject(provenance) ? provenance : {}
  const from = kind === "local" ? "this program" : `${String(kind)} ${String(name)}`
  return [
    ...(effect === undefined ? [] : [["effect", EFFECTS[effect] ?? effect] as const]),
    ...(name === undefined ? [] : [["tool of", from] as const]),
  ]
}

const EFFECTS: Readonly<Record<string, string>> = {
  readOnly: "it only reads",
  idempotent: "made twice it does the same",
  key: "it carries a key: made twice it takes effect once",
  reconcile: "its tool can be asked whether it took effect",
  none: "if it broke off, nobody knows whether it took effect",
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
        <Heading>Arguments</Heading>
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
      <Heading>Result</Heading>
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

/** The reply that a call was read from, and how the model came to it. */
function RawReply({ reply, path }: { reply: Row | undefined; path: string | undefined }) {
  const { data } = useBody(reply?.seq)
  const { raw, spans } = data?.fields ?? {}
  const text = typeof raw === "string" ? raw : undefined
  return (
    <>
      {text === undefined || text === "" ? null : (
        <Folded title={`Raw text of the reply${path === undefined ? "" : `, read as ${visible(path)}`}`}>
          <RawText raw={text} spans={spans} />
        </Folded>
      )}
      {text !== "" || path === undefined ? null : (
        <p className="m-0 text-[12px] text-soft">The call came as {visible(path)}, not in text.</p>
      )}
      {reply?.traceSeq === undefined ? null : (
        <Folded title="Tokens of the reply">
          <Tokens seq={reply.traceSeq} raw={text} />
        </Folded>
      )}
    </>
  )
}

function Repairs({ repairs }: { repairs: unknown }) {
  if (!Array.isArray(repairs) || repairs.length === 0) return null
  return (
    <section aria-label="Repairs">
      <Heading>Put right before it ran</Heading>
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
