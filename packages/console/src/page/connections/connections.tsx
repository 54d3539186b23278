import type { ConnectionList, DatabaseConnection, ModelConnection, SourceConnection } from "@toolwright/server"
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { get } from "../lib/api.ts"
import { count, visible } from "../lib/text.ts"
import { Badge, Loading, Problem } from "../ui/states.tsx"
import { Doctor } from "./doctor.tsx"

/** What this server is connected to, what is away and why, and what to do about it. */
export function Connections() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["connections"],
    queryFn: ({ signal }) => get<ConnectionList>("connections", signal),
    refetchInterval: 10_000,
  })
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-4 p-4">
      <h1 className="text-lg font-semibold">Connections</h1>
      {isPending ? <Loading what="Asking what is connected" /> : null}
      {data === undefined && error !== null ? (
        <Problem title="The connections cannot be shown" error={error} retry={() => void refetch()} />
      ) : null}
      {data === undefined ? null : <Parts list={data} />}
    </div>
  )
}

function Card({ title, badge, children }: { title: string; badge: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2 rounded-lg border border-line bg-panel p-3">
      <h2 className="flex flex-wrap items-center gap-2 font-semibold">
        {visible(title)} {badge}
      </h2>
      {children}
    </section>
  )
}

function Parts({ list: { model, sources, database, unavailable, tools } }: { list: ConnectionList }) {
  return (
    <>
      <Model model={model} />
      <Database database={database} />
      <Card title="Tools" badge={<Badge tone="good">{count(tools, "tool")} of its own</Badge>}>
        <p className="m-0 text-soft">
          <Link to="/tools" search={{}} className="text-accent underline">
            All tools
          </Link>
          , whatever server they come from, are called in the same way.
        </p>
        {unavailable.length === 0 ? null : (
          <ul className="m-0 flex flex-col gap-1">
            {unavailable.map(({ name, reason }) => (
              <li key={name}>
                <code className="font-mono">{visible(name)}</code>{" "}
                <span className="text-soft">cannot run here: {visible(reason)}</span>
              </li>
            ))}
          </ul>
        )}
      </Card>
      {sources.map((source) => (
        <Source key={`${source.kind} ${source.name}`} source={source} />
      ))}
      {sources.length > 0 ? null : (
        <p className="text-soft">
          No MCP server and no tools service is connected. <code>toolwright ui --mcp-server "npx -y some-server"</code>{" "}
          or <code>mcp.servers</code> in <code>toolwright.yaml</code> connects one.
        </p>
      )}
    </>
  )
}

const KINDS: Readonly<Record<string, string>> = {
  "openai-compatible": "a server that speaks OpenAI's protocol",
  llama: "a model file, in this process",
  pocket: "the small model that is built in",
  scripted: "a screenplay",
}

function Model({ model: { kind, name, baseUrl, examinable, examined } }: { model: ModelConnection }) {
  if (kind === undefined)
    return (
      <Card title="Model" badge={<Badge tone="warn">none</Badge>}>
        <p className="m-0 text-soft">
          Tools can be called and runs be read; agents and the chat need a model:{" "}
          <code>toolwright ui --model NAME --base-url http://localhost:11434/v1</code>
        </p>
      </Card>
    )
  return (
    <Card title={name ?? "Model"} badge={<Badge>{KINDS[kind] ?? kind}</Badge>}>
      {baseUrl === undefined ? null : <code className="font-mono text-soft">{visible(baseUrl)}</code>}
      {examinable ? (
        <Doctor known={examined} />
      ) : (
        <p className="m-0 text-soft">It has no server that could be examined: it runs where this server runs.</p>
      )}
    </Card>
  )
}

function Database({ database: { kind, place, state, reason, runs } }: { database: DatabaseConnection }) {
  return (
    <Card
      title={kind === "sqlite" ? "Database: SQLite" : "Database: PostgreSQL"}
      badge={<Badge tone={state === "open" ? "good" : state === "away" ? "bad" : "soft"}>{state}</Badge>}
    >
      <code className="font-mono break-all text-soft">{visible(place)}</code>
      <p className="m-0 text-soft">
        {state === "open" ? `${count(runs ?? 0, "run")} on record.` : null}
        {state === "not yet" ? "It is made with the first run." : null}
      </p>
      {reason === undefined ? null : <p className="m-0 text-bad">{visible(reason)}</p>}
    </Card>
  )
}

function Source({ source: { kind, name, state, reason, tools } }: { source: SourceConnection }) {
  return (
    <Card
      title={`${kind === "mcp" ? "MCP server" : "Tools service"} ${name}`}
      badge={<Badge tone={state === "connected" ? "good" : "bad"}>{state}</Badge>}
    >
      <p className="m-0 text-soft">
        {count(tools, "tool")}
        {state === "away" && tools === 0 ? ": they come when it is there and this server is started anew." : "."}
      </p>
      {reason === undefined ? null : <p className="m-0 whitespace-pre-wrap text-bad">{visible(reason)}</p>}
    </Card>
  )
}
