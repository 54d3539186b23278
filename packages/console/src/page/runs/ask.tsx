import { useMutation, useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState, type FormEvent } from "react"
import { get, post } from "../lib/api.ts"
import { visible } from "../lib/text.ts"
import { NoModel, useNoModel } from "../ui/model.tsx"
import { Problem } from "../ui/states.tsx"

interface Agent {
  name: string
  description: string
  changesWorkspace: boolean
}

/** Gives an agent something to do, and goes where it can be watched. */
export function Ask() {
  const agents = useQuery({ queryKey: ["agents"], queryFn: ({ signal }) => get<Agent[]>("runs/agents", signal) })
  const [agent, setAgent] = useState("assistant")
  const [task, setTask] = useState("")
  const noModel = useNoModel() === true
  const navigate = useNavigate()
  const started = useMutation({
    mutationFn: () => post<{ id: string }>("runs", { agent, task }),
    onSuccess: ({ id }) => navigate({ to: "/runs/$run", params: { run: id }, search: {} }),
  })
  if (agents.data === undefined || agents.data.length === 0) return null
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!noModel) started.mutate()
  }
  const about = agents.data.find(({ name }) => name === agent)?.description ?? ""
  return (
    <form onSubmit={submit} className="flex flex-none flex-wrap items-center gap-2 border-b border-line bg-panel p-2">
      <select
        className="field max-w-36"
        aria-label="Agent"
        title={visible(about)}
        value={agent}
        onChange={(event) => setAgent(event.target.value)}
      >
        {agents.data.map(({ name }) => (
          <option key={name}>{visible(name)}</option>
        ))}
      </select>
      <input
        className="field min-w-40 flex-1"
        aria-label="What it is to do"
        placeholder="What is it to do?"
        value={task}
        onChange={(event) => setTask(event.target.value)}
      />
      <button
        type="submit"
        className="button button-main"
        disabled={noModel || task.trim() === "" || started.isPending}
        aria-describedby={noModel ? "no-model" : undefined}
      >
        {started.isPending ? "Starting…" : "Start"}
      </button>
      {noModel ? <NoModel id="no-model" /> : null}
      {started.error === null ? null : (
        <div className="w-full">
          <Problem title="It could not be started" error={started.error} />
        </div>
      )}
    </form>
  )
}
