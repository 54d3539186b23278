import type { EvaluationDigest } from "@toolwright/toolbox"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { get } from "../lib/api.ts"
import { visible } from "../lib/text.ts"
import { Empty, Loading, Problem } from "../ui/states.tsx"
import { Report } from "./report.tsx"
import { Standing } from "./standing.tsx"

/** Suites that were tried: what came of each, and the runs of their trials. */
export function Evaluations() {
  const { evaluation } = useParams({ strict: false }) as { evaluation?: string }
  return evaluation === undefined ? <List /> : <Report id={evaluation} />
}

function List() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["evaluations"],
    queryFn: ({ signal }) => get<{ evaluations: EvaluationDigest[] }>("evaluations", signal),
    refetchInterval: 5_000,
  })
  const found = data?.evaluations
  return (
    <div className="mx-auto flex max-w-4xl flex-col gap-3 p-4">
      <h1 className="text-lg font-semibold">Evaluations</h1>
      {isPending ? <Loading what="Asking what was tried" /> : null}
      {found === undefined && error !== null ? (
        <Problem title="The evaluations cannot be shown" error={error} retry={() => void refetch()} />
      ) : null}
      {found?.length === 0 ? (
        <Empty title="No suite was tried here">
          <code>toolwright eval new</code> writes one to begin with, <code>toolwright eval run suite.yaml</code> tries
          it.
        </Empty>
      ) : null}
      {found === undefined || found.length === 0 ? null : (
        <ul className="m-0 flex list-none flex-col divide-y divide-line rounded-lg border border-line bg-panel p-0">
          {found.map((each) => (
            <li key={each.id}>
              <Link
                to="/evaluations/$evaluation"
                params={{ evaluation: each.id }}
                search={{}}
                className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 hover:bg-raised"
              >
                <span className="font-medium">{visible(each.suite)}</span>
                <Standing evaluation={each} />
                <span className="text-soft">{visible(each.message ?? "")}</span>
                <span className="ml-auto text-[12px] whitespace-nowrap text-soft">
                  {new Date(each.startedAt).toLocaleString()}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
