import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { StrictMode, useState } from "react"
import { createRoot } from "react-dom/client"
import { ago, visible } from "./lib/text.ts"
import { RowBuilder } from "./run/rows.ts"
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
}

function bodiesOf({ events, bodies = {} }: Held): BodySource {
  const bySeq = new Map(events.map((event) => [event.digest.seq, event]))
  return {
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

function Viewer({ held }: { held: Held }) {
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
