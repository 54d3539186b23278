import { useQuery } from "@tanstack/react-query"
import { ApiError } from "../lib/api.ts"
import { Empty, Loading, Problem } from "../ui/states.tsx"
import { allQuery, pendingQuery } from "./data.ts"
import { Answered, Question } from "./question.tsx"

/** Whatever waits for a person, and what was answered before. */
export function Approvals() {
  const pending = useQuery(pendingQuery)
  const all = useQuery(allQuery)
  const before = (all.data ?? []).filter(({ state }) => state !== "pending")
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-4 p-4">
      <h1 className="text-lg font-semibold">Approvals</h1>
      {pending.isPending ? <Loading what="Asking what waits" /> : null}
      {pending.isError && pending.data === undefined ? (
        <NotShown error={pending.error} retry={() => void pending.refetch()} />
      ) : null}
      {pending.data?.length === 0 ? (
        <Empty title="Nothing waits for you">
          Calls that the permissions say <code>ask</code> of wait here, and in their run, until somebody answers:{" "}
          <code>toolwright ui --careful</code>, or <code>permissions.ask</code> in <code>toolwright.yaml</code>.
        </Empty>
      ) : null}
      {(pending.data ?? []).map((question) => (
        <Question key={question.id} question={question} />
      ))}
      {before.length === 0 ? null : (
        <section aria-label="Answered">
          <h2 className="mb-1 font-semibold">Before</h2>
          <ul className="divide-y divide-line rounded-lg border border-line bg-panel">
            {before.map((question) => (
              <Answered key={question.id} question={question} />
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

function NotShown({ error, retry }: { error: unknown; retry: () => void }) {
  if (error instanceof ApiError && error.status === 404)
    return (
      <Empty title="Nobody is asked here">
        A server without a token only reads: nothing needs approval, and nobody permits anything through it. Start it
        with <code>--token</code>, or with <code>toolwright ui</code>.
      </Empty>
    )
  return <Problem title="The questions cannot be shown" error={error} retry={retry} />
}
