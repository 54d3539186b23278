import { createContext, useContext, useState } from "react"
import { useKeys } from "../lib/keys.ts"
import { visible } from "../lib/text.ts"

/** What leads from a run to elsewhere; an exported file has none of it. */
export interface Actions {
  edit?: (name: string, args: string) => void
  branch?: (seq: number) => Promise<void>
}

export const RunActions = createContext<Actions>({})

export function EditAndRun({ name, args }: { name: string; args: string }) {
  const { edit } = useContext(RunActions)
  useKeys({ r: () => edit?.(name, args) })
  if (edit === undefined) return null
  return (
    <button type="button" className="button" onClick={() => edit(name, args)}>
      Edit and run
    </button>
  )
}

/** Goes on from the last round that had ended by this event, as a run of its own. */
export function BranchHere({ seq }: { seq: number }) {
  const { branch } = useContext(RunActions)
  const [problem, setProblem] = useState("")
  const [busy, setBusy] = useState(false)
  if (branch === undefined) return null
  const press = (): void => {
    setBusy(true)
    branch(seq)
      .catch((thrown: unknown) => setProblem(thrown instanceof Error ? thrown.message : String(thrown)))
      .finally(() => setBusy(false))
  }
  return (
    <>
      <button type="button" className="button" disabled={busy} onClick={press}>
        {busy ? "Branching…" : "Branch here"}
      </button>
      {problem === "" ? null : (
        <span role="alert" className="text-bad">
          {visible(problem)}
        </span>
      )}
    </>
  )
}
