import { useMutation, useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useState, type FormEvent } from "react"
import { ApiError, get, post } from "../lib/api.ts"
import { visible } from "../lib/text.ts"
import { NoModel, useNoModel } from "../ui/model.tsx"
import { Badge, Empty, Loading, Problem } from "../ui/states.tsx"

/** An agent as the server lists it; what it owns is told where agents are kept by name. */
interface AgentInfo {
  name: string
  description?: string
  changesWorkspace?: boolean
  ownsFiles?: boolean
  files?: string[]
}

const agentsOf = (answer: unknown): AgentInfo[] =>
  (Array.isArray(answer) ? answer : ((answer as { agents?: unknown }).agents ?? [])) as AgentInfo[]

function useAgents() {
  return useQuery({
    queryKey: ["agents", "all"],
    queryFn: async ({ signal }) => agentsOf(await get<unknown>("agents", signal)),
  })
}

/** Who can be asked to do something, what each of them may do, and a place to ask. */
export function Agents() {
  const agents = useAgents()
  const noModel = useNoModel() === true
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-4 p-4">
      <h1 className="text-lg font-semibold">Agents</h1>
      {agents.isPending ? <Loading what="Asking who is here" /> : null}
      {agents.isError && agents.data === undefined ? (
        <Problem
          title="The agents cannot be shown"
          error={agents.error}
          {...(agents.error instanceof ApiError ? {} : { retry: () => void agents.refetch() })}
        />
      ) : null}
      {agents.data?.length === 0 ? <Empty title="No agent can be asked here" /> : null}
      {noModel ? <NoModel id="no-model" queue /> : null}
      {(agents.data ?? []).map((agent) => (
        <AgentCard key={agent.name} agent={agent} noModel={noModel} />
      ))}
    </div>
  )
}

function AgentCard({ agent, noModel }: { agent: AgentInfo; noModel: boolean }) {
  const { name, description = "", changesWorkspace = false, ownsFiles = false, files = [] } = agent
  return (
    <section aria-label={name} className="rounded-lg border border-line bg-panel p-3">
      <h2 className="flex flex-wrap items-center gap-2 font-semibold">
        <span className="font-mono">{visible(name)}</span>
        <Badge tone={changesWorkspace ? "warn" : "good"}>{changesWorkspace ? "changes files" : "only reads"}</Badge>
        {ownsFiles ? <Badge>owns files</Badge> : null}
        <Link to="/runs" search={{ agent: name }} className="ml-auto text-[12px] font-normal text-accent underline">
          its runs
        </Link>
        <Link to="/tasks" search={{ agent: name }} className="text-[12px] font-normal text-accent underline">
          its tasks
        </Link>
      </h2>
      <p className="mt-1 mb-2 whitespace-pre-wrap text-soft">{visible(description)}</p>
      {files.length === 0 ? null : <p className="mt-0 mb-2 font-mono text-[12px]">{visible(files.join(", "))}</p>}
      <Give agent={agent} needsFiles={ownsFiles && files.length === 0} noModel={noModel} />
    </section>
  )
}

interface Given {
  how: "now" | "queue"
  task: string
  files: string
}

/** Starts a run, or queues a task, and goes where it can be seen. */
function useGive(name: string) {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: async ({ how, task, files }: Given) => {
      const listed = files.split(/[\s,]+/).filter((file) => file !== "")
      const input = listed.length === 0 ? task : { task, files: listed }
      const [path, body] =
        how === "now" ? (["runs", { agent: name, task }] as const) : (["tasks", { agent: name, input }] as const)
      return { how, id: (await post<{ id: string }>(path, body)).id }
    },
    onSuccess: ({ how, id }) =>
      how === "now"
        ? navigate({ to: "/runs/$run", params: { run: id }, search: {} })
        : navigate({ to: "/tasks/$task", params: { task: id }, search: {} }),
  })
}

interface GiveProps {
  agent: AgentInfo
  needsFiles: boolean
  /** Nothing can be started here: a task waits for a worker that has a model. */
  noModel: boolean
}

/** What an agent is to do: now, so that somebody watches, or when its turn comes. */
function Give({ agent: { name, ownsFiles = false }, needsFiles, noModel }: GiveProps) {
  const [task, setTask] = useState("")
  const [files, setFiles] = useState("")
  const given = useGive(name)
  const ready = task.trim() !== "" && (!needsFiles || files.trim() !== "") && !given.isPending
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (ready) given.mutate({ how: needsFiles || noModel ? "queue" : "now", task, files })
  }
  return (
    <form onSubmit={submit} className="flex flex-wrap items-start gap-2">
      <textarea
        className="field min-w-60 flex-1"
        rows={1}
        aria-label={`What ${name} is to do`}
        placeholder="What is it to do?"
        value={task}
        onChange={(event) => setTask(event.target.value)}
      />
      {needsFiles ? (
        <input
          className="field max-w-56 font-mono"
          aria-label={`Files that ${name} owns`}
          placeholder="its files: src/a.ts"
          value={files}
          onChange={(event) => setFiles(event.target.value)}
        />
      ) : null}
      {ownsFiles && needsFiles ? null : (
        <button
          type="submit"
          className="button button-main"
          disabled={!ready || noModel}
          aria-describedby={noModel ? "no-model" : undefined}
        >
          Start and watch
        </button>
      )}
      <button
        type="button"
        className="button"
        disabled={!ready}
        onClick={() => given.mutate({ how: "queue", task, files })}
      >
        Queue as a task
      </button>
      {given.error === null ? null : (
        <div className="w-full">
          <Problem title="It was not taken" error={given.error} />
        </div>
      )}
    </form>
  )
}
