import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { Question } from "../approvals/question.tsx"
import { useQuestionsOf } from "../approvals/data.ts"
import { isObject, pretty } from "../lib/json.ts"
import { ago, duration, visible } from "../lib/text.ts"
import { Body } from "../ui/body.tsx"
import { Loading, Problem } from "../ui/states.tsx"
import { Changes } from "./changes.tsx"
import { OPEN_STATES, taskQuery, titleOf, type TaskView } from "./data.ts"
import { TaskStateBadge } from "./state.tsx"

/** Everything about one task, and what can be done about it. */
export function TaskDetail({ id, close }: { id: string; close: () => void }) {
  const { data, error } = useQuery(taskQuery(id))
  return (
    <aside
      aria-label="Task"
      className="flex min-h-0 w-[min(46%,40rem)] flex-none flex-col gap-3 overflow-auto border-l border-line bg-panel p-3 max-lg:absolute max-lg:inset-0 max-lg:z-10 max-lg:w-full max-lg:border-l-0"
    >
      <div className="flex items-center gap-2">
        <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">
          {data === undefined ? id : visible(titleOf(data))}
        </h2>
        <button type="button" className="button" onClick={close} aria-label="Close the task">
          ✕
        </button>
      </div>
      {data === undefined && error !== null ? <Problem title="This task cannot be shown" error={error} /> : null}
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined ? null : <TaskParts task={data} />}
    </aside>
  )
}

function TaskParts({ task }: { task: TaskView }) {
  const { run, result, reason, input } = task
  const questions = useQuestionsOf(run ?? "")
  const ended = !OPEN_STATES.has(task.state)
  const message = isObject(result) && typeof result.message === "string" ? result.message : undefined
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <TaskStateBadge state={task.state} />
        <Changes
          what="tasks"
          id={task.id}
          cancel={ended ? undefined : { name: "Cancel", title: "Ends it, and all tasks below it" }}
          retry={ended && task.state !== "done" ? { name: "Try again", title: "Queues it anew" } : undefined}
        />
        {run === undefined ? null : (
          <Link to="/runs/$run" params={{ run }} search={{}} className="button">
            Open its run
          </Link>
        )}
      </div>
      {run === undefined ? null : questions.map((question) => <Question key={question.id} question={question} inRun />)}
      {reason === undefined ? null : <p className="m-0 whitespace-pre-wrap">{visible(reason)}</p>}
      <Facts task={task} />
      <div>
        <h3 className="mb-1 text-[12px] font-semibold text-soft uppercase">What is to be done</h3>
        <Body text={wordsOf(input)} label="What is to be done" />
      </div>
      {result === undefined ? null : (
        <div>
          <h3 className="mb-1 text-[12px] font-semibold text-soft uppercase">What came of it</h3>
          {message === undefined ? null : <p className="mt-0 mb-2 whitespace-pre-wrap">{visible(message)}</p>}
          <Body text={pretty(result)} label="What came of it" />
        </div>
      )}
    </>
  )
}

function Facts({ task }: { task: TaskView }) {
  const { id, agent, priority, attempts, maxAttempts, workspace, budget, notBefore } = task
  const at = (time: string | undefined): string => (time === undefined ? "" : ago(Date.parse(time)))
  const [started, ended] = [Date.parse(task.startedAt ?? ""), Date.parse(task.endedAt ?? "")]
  const facts: [string, string][] = [
    ["id", id],
    ["agent", agent],
    ["priority", String(priority)],
    ["attempts", `${attempts} of ${maxAttempts}`],
    ["workspace", workspace ?? ""],
    ["works", worksIn(task)],
    ["changed", changedBy(task)],
    ["budget", budget === undefined ? "" : JSON.stringify(budget)],
    ["not before", notBefore === undefined ? "" : new Date(notBefore).toLocaleString()],
    ["queued", at(task.createdAt)],
    ["started", at(task.startedAt)],
    ["took", Number.isNaN(ended - started) ? "" : duration(ended - started)],
  ]
  return (
    <dl className="m-0 grid grid-cols-[6rem_minmax(0,1fr)] gap-y-0.5 text-[12.5px]">
      {facts
        .filter(([, value]) => value !== "")
        .map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-soft">{name}</dt>
            <dd className="m-0 break-words">{visible(value)}</dd>
          </div>
        ))}
      {task.plan === undefined ? null : (
        <div className="contents">
          <dt className="text-soft">plan</dt>
          <dd className="m-0">
            <Link to="/tasks" search={{ plan: task.plan }} className="text-accent underline">
              {visible(task.plan)}
            </Link>
          </dd>
        </div>
      )}
      {(task.after ?? []).length + (task.parent === undefined ? 0 : 1) === 0 ? null : <Others task={task} />}
    </dl>
  )
}

/** A task that says nothing but what is to be done, in its own words. */
function wordsOf(input: unknown): string {
  if (typeof input === "string") return input
  if (isObject(input) && typeof input.task === "string" && Object.keys(input).length === 1) return input.task
  return pretty(input)
}

/** Where a task has a working tree of its own: that, and what the merge is for. */
function worksIn({ input }: TaskView): string {
  if (!isObject(input) || input.worktree !== true) return ""
  const { resolves } = input
  return typeof resolves === "string"
    ? `puts a conflict of ${resolves} right, on its branch`
    : "on a branch of its own, which is merged once it has succeeded"
}

/** The files that it changed, or that its merge brought in. */
function changedBy({ result }: TaskView): string {
  const files = isObject(result) ? result.modifiedFiles : undefined
  return Array.isArray(files) ? files.join(", ") : ""
}

function Others({ task: { parent, after = [] } }: { task: TaskView }) {
  const link = (id: string) => (
    <Link key={id} to="/tasks/$task" params={{ task: id }} search={{}} className="mr-2 text-accent underline">
      {id}
    </Link>
  )
  return (
    <>
      {parent === undefined ? null : (
        <div className="contents">
          <dt className="text-soft">asked for by</dt>
          <dd className="m-0 flex flex-wrap">{link(parent)}</dd>
        </div>
      )}
      {after.length === 0 ? null : (
        <div className="contents">
          <dt className="text-soft">waits for</dt>
          <dd className="m-0 flex flex-wrap">{after.map(link)}</dd>
        </div>
      )}
    </>
  )
}
