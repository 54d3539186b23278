import type { ConnectionList } from "@toolwright/server"
import { useQuery } from "@tanstack/react-query"
import { get } from "../lib/api.ts"

/** Whether the server has no model; undefined as long as it was not asked, false where it does not say. */
export function useNoModel(): boolean | undefined {
  const { data, isError } = useQuery({
    queryKey: ["connections"],
    queryFn: ({ signal }) => get<ConnectionList>("connections", signal),
    retry: false,
    staleTime: 10_000,
  })
  return data === undefined ? (isError ? false : undefined) : data.model.kind === undefined
}

/** How a server comes to a model. */
export function HowToModel() {
  return (
    <>
      Start it with one: <code>toolwright ui --model NAME --base-url http://localhost:11434/v1</code>, or{" "}
      <code>--backend pocket</code> for the small one that is built in.
    </>
  )
}

/** Why nothing can be started here; `id` is what a button without use is described by. */
export function NoModel({ id, queue = false }: { id: string; queue?: boolean }) {
  return (
    <p id={id} className="m-0 w-full text-warn">
      This server has no model, so nothing can be started here. <HowToModel />
      {queue ? (
        <>
          {" "}
          A task can be queued: it waits for a <code>toolwright work</code> that has one.
        </>
      ) : null}
    </p>
  )
}
