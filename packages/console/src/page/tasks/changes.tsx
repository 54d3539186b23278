import { Problem } from "../ui/states.tsx"
import { useChange } from "./data.ts"

interface ChangesProps {
  what: "tasks" | "plans"
  id: string
  /** What ending it is called, and what that does; not there where nothing goes on. */
  cancel?: { name: string; title: string } | undefined
  retry?: { name: string; title: string } | undefined
}

/** Ends a task or a plan, or has it tried again; what was refused stands beside. */
export function Changes({ what, id, cancel, retry }: ChangesProps) {
  const change = useChange(what, id)
  const button = (how: "cancel" | "retry", said: { name: string; title: string } | undefined) =>
    said === undefined ? null : (
      <button
        type="button"
        className="button"
        disabled={change.isPending}
        onClick={() => change.mutate(how)}
        title={said.title}
      >
        {said.name}
      </button>
    )
  return (
    <>
      {button("cancel", cancel)}
      {button("retry", retry)}
      {change.error === null ? null : <Problem title="It stays as it is" error={change.error} />}
    </>
  )
}
