import { createContext, useContext } from "react"

/** What leads from a run to elsewhere; an exported file has none of it. */
export interface Actions {
  edit?: (name: string, args: string) => void
}

export const RunActions = createContext<Actions>({})

export function EditAndRun({ name, args }: { name: string; args: string }) {
  const { edit } = useContext(RunActions)
  if (edit === undefined) return null
  return (
    <button type="button" className="button" onClick={() => edit(name, args)}>
      Edit and run
    </button>
  )
}
