import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { StrictMode, useState } from "react"
import { createRoot } from "react-dom/client"
import { ago, visible } from "./lib/text.ts"
import { RowBuilder } from "./run/rows.ts"
import { Nested, type Nesting } from "./run/nested.tsx"
import { Bodies, type BodySource } from "./run/source.ts"
import { RunView } from "./run/view.tsx"
import { Status } from "./runs/status.tsx"
import type { EventBody, EventDigest, RunDigest } from "./runs/data.ts"
import "./style.css"

/** A run as it lies in the file. */
interface Held {
  run: RunDigest
  events: { digest: EventDigest; hash: string; body?: string }[]
  /** Texts that events name by their hashes. */
  bodies?: Record<string, string>
  /** The runs that its calls asked for. */
  below?: Held[]
}

function bodiesOf({ run, events, bodies = {} }: Held): BodySource {
  const bySeq = new Map(events.map((event) => [event.digest.seq, event]))
  return {
    run: run.id,
    live: false,
    async kept(_seq, hash) {
      const text = Object.hasOwn(bodies, hash) ? bodies[hash]! : undefined
      return { size: text?.length ?? 0, from: 0, text: text ?? "", ...(text === undefined ? { erased: true } : {}) }
    },
    async body(seq): Promise<EventBody> {
      const event = bySeq.get(seq)
      if (event === undefined) throw new Error(`There is no event ${seq}.`)
      const { digest, hash, body = "" } = event
      const { type, time } = digest
      return {
        seq,
        type,
        time,
        hash,
        size: body.length,
        from: 0,
        text: body,
        ...(event.body === undefined ? { erased: true } : {}),
      }
    },
  }
}

/** The run of the file, or one below it, and what leads from the one to the other. */
function Viewer({ held }: { held: Held }) {
  const [all] = useState(() => withBelow(held))
  const [shown, setShown] = useState(held.run.id)
  const here = all.get(shown) ?? held
  const digestOf = ({ run, below = [] }: Held): RunDigest => ({
    ...run,
    ...(below.length === 0 ? {} : { asks: below.length }),
  })
  const nesting: Nesting = {
    asked: (here.below ?? []).map(digestOf),
    below: async (run) => (all.get(run)?.below ?? []).map(digestOf),
    link: (run, content, className) => (
      <button type="button" className={`${className} text-left`} onClick={() => setShown(run)}>
        {content}
      </button>
    ),
  }
  const above = here.run.askedBy?.run
  return (
    <Nested value={nesting}>
      <Shown key={shown} held={here} up={above === undefined || !all.has(above) ? undefined : () => setShown(above)} />
    </Nested>
  )
}

function withBelow(held: Held): ReadonlyMap<string, Held> {
  const all = [held]
  for (const each of all) all.push(...(each.below ?? []))
  return new Map(all.map((each) => [each.run.id, each]))
}

function Shown({ held, up }: { held: Held; up: (() => void) | undefined }) {
  const [rows] = useState(() => {
    const builder = new RowBuilder()
    builder.add(held.events.map(({ digest }) => digest))
    return builder.rows
  })
  const [bodies] = useState(() => bodiesOf(held))
  const { run } = held
  return (
    <Bodies value={bodies}>
      <main className="flex h-full flex-col">
        <header className="flex flex-none flex-wrap items-center gap-2 border-b border-line bg-panel px-3 py-2">
          {up === undefined ? null : (
            <button type="button" className="button" onClick={up}>
              ← Whoever asked for it
            </button>
          )}
          <Status run={run} />
          <h1 className="min-w-0 flex-1 truncate text-sm font-semibold">{visible(run.title)}</h1>
          <span className="text-[12px] text-soft">
            {visible([run.id, run.agent, run.model, ago(run.started)].filter(Boolean).join(" · "))}, a copy
          </span>
        </header>
        <RunView rows={rows} live={false} loading={false} />
      </main>
    </Bodies>
  )
}

const held = JSON.parse(document.getElementById("run")!.textContent) as Held
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={new QueryClient()}>
      <Viewer held={held} />
    </QueryClientProvider>
  </StrictMode>,
)
