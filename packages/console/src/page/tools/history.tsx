import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { ago, duration, visible } from "../lib/text.ts"
import { runsQuery } from "../runs/data.ts"
import { Status } from "../runs/status.tsx"

/** The calls of this tool that are on record. */
export function History({ tool }: { tool: string }) {
  const { data } = useQuery(runsQuery({ tool, limit: 8 }))
  if (data === undefined || data.runs.length === 0) return null
  return (
    <section aria-label="Calls on record">
      <h2 className="mb-1 font-semibold">On record</h2>
      <ul className="divide-y divide-line rounded-lg border border-line bg-panel">
        {data.runs.map((run) => (
          <li key={run.id}>
            <Link
              to="/runs/$run"
              params={{ run: run.id }}
              search={{}}
              className="flex items-center gap-3 px-3 py-1.5 hover:bg-raised"
            >
              <Status run={run} />
              <span className="min-w-0 flex-1 truncate text-soft">{visible(run.message ?? "")}</span>
              <span className="text-[12px] text-soft">{run.ms === undefined ? "" : duration(run.ms)}</span>
              <span className="text-[12px] text-soft">{ago(run.started)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
