import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useRef, useState } from "react"
import { useKeys } from "../lib/keys.ts"
import { ago, count, visible } from "../lib/text.ts"
import { Empty, Loading, Problem } from "../ui/states.tsx"
import { OPEN_STATES, PAGE, STATES, statsQuery, tasksPage, titleOf, type TaskView } from "./data.ts"
import { Changes } from "./changes.tsx"
import { PlanPicture } from "./graph.tsx"
import { TaskStateBadge } from "./state.tsx"
import { TaskDetail } from "./task.tsx"
import { treeOf, type TreeRow } from "./tree.ts"

type Filter = Readonly<Record<string, string>>

function useTasks({ state = "", agent = "", plan = "" }: Filter) {
  const filter = { state, agent, plan }
  return useInfiniteQuery({
    queryKey: ["tasks", "pages", filter],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => tasksPage(filter, pageParam, signal),
    getNextPageParam: (page, _all, offset) => (page.tasks.length === PAGE ? offset + PAGE : undefined),
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some((page) => page.tasks.some((task) => OPEN_STATES.has(task.state))) === true ? 1200 : 4000,
  })
}

/** The queue: what waits, what is worked on, what came of it; those that one task asked for stand below it. */
export function Tasks() {
  const { task: chosen } = useParams({ strict: false }) as { task?: string }
  const filter = useSearch({ strict: false }) as Filter
  const navigate = useNavigate()
  const tasks = useTasks(filter)
  const all = tasks.data?.pages.flatMap((page) => page.tasks) ?? []
  const set = (name: string, value: string): void => {
    const { [name]: _old, ...rest } = filter
    void navigate({ to: "/tasks", search: value === "" ? rest : { ...rest, [name]: value }, replace: true })
  }
  const open = (id: string | undefined): void =>
    void (id === undefined
      ? navigate({ to: "/tasks", search: filter })
      : navigate({ to: "/tasks/$task", params: { task: id }, search: filter }))
  const words = (filter.text ?? "").toLowerCase().split(/\s+/)
  const shown = all.filter((task) => words.every((word) => `${titleOf(task)} ${task.id}`.toLowerCase().includes(word)))
  return (
    <div className="flex h-full flex-col">
      <h1 className="sr-only">Tasks</h1>
      <Filters filter={filter} set={set} />
      {filter.plan !== undefined && shown.length > 0 ? <Plan id={filter.plan} tasks={shown} open={open} /> : null}
      <div className="relative flex min-h-0 flex-1">
        <section aria-label="Tasks" className="flex min-w-0 flex-1 flex-col">
          {tasks.isPending ? <Loading what="Asking for the tasks" /> : null}
          {tasks.isError && tasks.data === undefined ? (
            <Problem title="The tasks cannot be shown" error={tasks.error} retry={() => void tasks.refetch()} />
          ) : null}
          {tasks.data !== undefined && shown.length === 0 ? (
            <NoTasks filtered={Object.keys(filter).length > 0} />
          ) : null}
          {shown.length > 0 ? (
            <TaskList
              rows={treeOf(shown)}
              chosen={chosen}
              open={open}
              more={tasks.hasNextPage && !tasks.isFetchingNextPage ? () => void tasks.fetchNextPage() : undefined}
            />
          ) : null}
        </section>
        {chosen === undefined ? null : <TaskDetail key={chosen} id={chosen} close={() => open(undefined)} />}
      </div>
    </div>
  )
}

/** A plan as a graph, and what can be done with all of it. */
function Plan({ id, tasks, open }: { id: string; tasks: TaskView[]; open: (id: string) => void }) {
  const goesOn = tasks.some(({ state }) => OPEN_STATES.has(state) || state === "blocked")
  const fell = tasks.some(({ state }) => !OPEN_STATES.has(state) && state !== "done")
  return (
    <>
      <PlanPicture tasks={tasks} open={open} />
      <div className="flex flex-none flex-wrap items-center gap-2 border-b border-line bg-panel p-2">
        <Changes
          what="plans"
          id={id}
          cancel={goesOn ? { name: "Cancel the plan", title: "Ends each of its tasks that has not ended" } : undefined}
          retry={
            fell
              ? {
                  name: "Try what failed again",
                  title: "Queues each of its tasks anew that did not come to a good end",
                }
              : undefined
          }
        />
        {goesOn || fell ? null : <span className="text-[12px] text-soft">All of the plan is done.</span>}
      </div>
    </>
  )
}

function NoTasks({ filtered }: { filtered: boolean }) {
  return filtered ? (
    <Empty title="No task is like that">Take a filter away.</Empty>
  ) : (
    <Empty title="No task waits here, and none was done">
      A task is worked on by itself, one after another, also when this page is closed. Give one to an agent under
      Agents, or with <code>toolwright tasks add "…"</code>.
    </Empty>
  )
}

function Filters({ filter, set }: { filter: Filter; set: (name: string, value: string) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const stats = useQuery(statsQuery).data?.tasks ?? {}
  useKeys({
    "/": () => input.current?.focus(),
    f: () => set("state", filter.state === "failed" ? "" : "failed"),
  })
  return (
    <div className="flex flex-none flex-wrap items-center gap-2 border-b border-line bg-panel p-2" role="search">
      <input
        ref={input}
        type="search"
        className="field max-w-72"
        placeholder="Words of the task"
        aria-label="Words of the task"
        value={filter.text ?? ""}
        onChange={(event) => set("text", event.target.value)}
      />
      <select
        className="field max-w-52"
        aria-label="How they stand"
        value={filter.state ?? ""}
        onChange={(event) => set("state", event.target.value)}
      >
        <option value="">however they stand</option>
        {STATES.map((state) => (
          <option key={state} value={state}>
            {state.replaceAll("-", " ")} ({stats[state] ?? 0})
          </option>
        ))}
      </select>
      {["agent", "plan"].map((name) =>
        filter[name] === undefined ? null : (
          <button key={name} type="button" className="button" onClick={() => set(name, "")}>
            {name} {visible(filter[name])} <span aria-hidden>✕</span>
            <span className="sr-only">: show all</span>
          </button>
        ),
      )}
      <span role="status" className="ml-auto text-[12px] text-soft">
        {count(
          Object.values(stats).reduce((sum, each) => sum + each, 0),
          "task",
        )}
      </span>
    </div>
  )
}

const ROW = 52

interface ListProps {
  rows: TreeRow[]
  chosen: string | undefined
  open: (id: string | undefined) => void
  /** Asks for earlier ones; not there where all are shown, or some are on their way. */
  more: (() => void) | undefined
}

function TaskList({ rows, chosen, open, more }: ListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState(-1)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    getItemKey: (index) => rows[index]!.task.id,
    overscan: 10,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= rows.length - 20) more?.()
  }, [last, rows.length, more])
  const move = (by: number) => (): void => {
    const next = Math.max(0, Math.min(rows.length - 1, at + by))
    setAt(next)
    virtual.scrollToIndex(next, { align: "auto" })
    if (chosen !== undefined) open(rows[next]?.task.id)
  }
  useKeys({
    j: move(1),
    k: move(-1),
    e: () => open(chosen === undefined ? rows[at]?.task.id : undefined),
    Escape: () => open(undefined),
  })
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-auto" tabIndex={0} role="region" aria-label="List of tasks">
      <ul className="relative m-0" aria-label={count(rows.length, "task")} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start, key }) => {
          const { task, depth } = rows[index]!
          return (
            <li
              key={key}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0 border-b border-line"
              style={{ height: ROW, transform: `translateY(${start}px)` }}
            >
              <TaskRow task={task} depth={depth} chosen={task.id === chosen} marked={index === at} open={open} />
            </li>
          )
        })}
      </ul>
    </div>
  )
}

function TaskRow({
  task,
  depth,
  chosen,
  marked,
  open,
}: {
  task: TaskView
  depth: number
  chosen: boolean
  marked: boolean
  open: (id: string) => void
}) {
  const { state, agent, priority, attempts, plan, after, reason, createdAt } = task
  const facts = [
    agent,
    priority === 0 ? "" : `priority ${priority}`,
    attempts > 1 ? `attempt ${attempts} of ${task.maxAttempts}` : "",
    plan === undefined ? "" : `plan ${plan}`,
    after === undefined || !OPEN_STATES.has(state) ? "" : `after ${count(after.length, "other")}`,
    state === "done" ? "" : (reason ?? ""),
  ]
  return (
    <button
      type="button"
      aria-current={chosen}
      onClick={() => open(task.id)}
      className={
        "grid h-full w-full grid-cols-[8.5rem_minmax(0,1fr)_auto] items-center gap-x-3 bg-panel px-3 text-left " +
        "hover:bg-raised aria-[current=true]:bg-mark max-sm:grid-cols-[minmax(0,1fr)_auto] " +
        `${marked ? "bg-raised" : ""}`
      }
    >
      <span className="max-sm:order-2">
        <TaskStateBadge state={state} />
      </span>
      <span className="min-w-0" style={{ paddingLeft: Math.min(depth, 8) * 20 }}>
        <span className="block truncate font-medium">
          {depth > 0 ? (
            <span aria-hidden className="text-soft">
              ↳{" "}
            </span>
          ) : null}
          {visible(titleOf(task))}
        </span>
        <span className="block truncate text-[12px] text-soft">
          {visible(facts.filter((fact) => fact !== "").join(" · "))}
        </span>
      </span>
      <span className="text-[12px] whitespace-nowrap text-soft max-sm:hidden">{ago(Date.parse(createdAt))}</span>
    </button>
  )
}
