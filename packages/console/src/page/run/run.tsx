import { useMutation, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useEffect, useMemo } from "react"
import { useQuestionsOf } from "../approvals/data.ts"
import { Question } from "../approvals/question.tsx"
import { get, post } from "../lib/api.ts"
import { ago, count, duration, visible } from "../lib/text.ts"
import { who } from "../lib/who.ts"
import { runQuery, type RunDetail, type RunDigest, type RunList } from "../runs/data.ts"
import { Status } from "../runs/status.tsx"
import { Loading, Problem } from "../ui/states.tsx"
import { RunActions, type Actions } from "./actions.tsx"
import { Changed, SaveAsFile } from "./kept.tsx"
import { Nested, type Nesting } from "./nested.tsx"
import { Bodies, serverBodies } from "./source.ts"
import { useRunEvents } from "./store.ts"
import { RunView } from "./view.tsx"

/** One run, live as long as it goes on. */
export function RunPane() {
  const { run: id } = useParams({ strict: false }) as { run: string }
  const { at } = useSearch({ strict: false }) as { at?: string }
  const head = useQuery(runQuery(id))
  const events = useRunEvents(id)
  const bodies = useMemo(() => serverBodies(id), [id])
  const asked = head.data?.asked
  const nesting = useMemo(() => nestingOf(asked ?? []), [asked])
  const actions = useActions(id, head.data !== undefined && head.data.agent !== "")
  const { live, loading } = events
  const behind = (head.data?.lastSeq ?? 0) > events.last
  useEffect(() => {
    // One that had waited goes on.
    if (behind && !live && !loading) events.again()
  }, [events, behind, live, loading])
  if (events.problem !== undefined || (head.isError && head.data === undefined))
    return (
      <>
        <h1 className="sr-only">A run</h1>
        <Problem
          title="This run cannot be shown"
          error={events.problem ?? head.error}
          retry={() => {
            events.again()
            void head.refetch()
          }}
        />
      </>
    )
  if (head.data === undefined) return <Loading what="Asking for the run" />
  return (
    <RunActions value={actions}>
      <Bodies value={bodies}>
        <Nested value={nesting}>
          <div className="flex h-full flex-col">
            <Head run={newer(head.data, events)} away={events.away} live={events.live} />
            <Questions run={id} answered={() => void head.refetch()} />
            <RunView
              rows={events.builder.rows}
              version={events.builder.version}
              live={events.live}
              loading={events.loading}
              at={at}
            />
          </div>
        </Nested>
      </Bodies>
    </RunActions>
  )
}

/** What leads from the run to elsewhere. */
function useActions(id: string, ofAgent: boolean): Actions {
  const navigate = useNavigate()
  return useMemo(
    () => ({
      edit: (name: string, args: string) => void navigate({ to: "/tools/$name", params: { name }, search: { args } }),
      ...(ofAgent
        ? {
            branch: async (seq: number) => {
              const made = await post<{ id: string }>(`runs/${encodeURIComponent(id)}/branch`, { seq })
              await navigate({ to: "/runs/$run", params: { run: made.id }, search: {} })
            },
          }
        : {}),
    }),
    [navigate, id, ofAgent],
  )
}

const nestingOf = (asked: readonly RunDigest[]): Nesting => ({
  asked,
  below: async (run) => (await get<RunList>(`runs?askedBy=${encodeURIComponent(run)}&limit=200`)).runs.toReversed(),
  link: (run, content, className) => (
    <Link to="/runs/$run" params={{ run }} search={{}} className={className}>
      {content}
    </Link>
  ),
})

/** What the stream told at its end holds until the run goes on again. */
function newer(head: RunDetail, { run: told, last }: { run: RunDigest | undefined; last: number }): RunDetail {
  return told === undefined || head.lastSeq > last ? head : { ...head, ...told }
}

/** What the run asks, where it asks it. */
function Questions({ run, answered }: { run: string; answered: () => void }) {
  const questions = useQuestionsOf(run)
  if (questions.length === 0) return null
  return (
    <div className="flex max-h-[45%] flex-none flex-col gap-2 overflow-auto border-b border-line p-2">
      {questions.map((question) => (
        <Question key={question.id} question={question} answered={answered} inRun />
      ))}
    </div>
  )
}

/** Goes on with a run that waits for nobody any more, or whose process died. */
function Resume({ run }: { run: RunDetail }) {
  const waiting = useQuestionsOf(run.id).length > 0
  const resumed = useMutation({ mutationFn: () => post(`runs/${encodeURIComponent(run.id)}/resume`, {}) })
  if (waiting || run.agent === "" || !["waiting", "interrupted"].includes(run.status)) return null
  return (
    <>
      <button type="button" className="button" disabled={resumed.isPending} onClick={() => resumed.mutate()}>
        Go on
      </button>
      {resumed.error === null ? null : (
        <span role="alert" className="text-bad">
          {visible(resumed.error.message)}
        </span>
      )}
    </>
  )
}

function Head({ run, away, live }: { run: RunDetail; away: boolean; live: boolean }) {
  return (
    <header className="flex-none border-b border-line bg-panel px-3 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <Link to="/runs" search={{}} className="text-accent" aria-label="All runs">
          ←
        </Link>
        <Status run={run} />
        <h1 className="min-w-0 flex-1 truncate text-sm font-semibold max-sm:basis-[60%]" title={visible(run.title)}>
          {visible(run.title)}
        </h1>
        {away ? (
          <span role="status" className="badge text-warn">
            the server is away; it goes on by itself
          </span>
        ) : live && run.status === "running" ? (
          <>
            <span role="status" className="badge text-good">
              live
            </span>
            {run.surface === "console" ? (
              <button
                type="button"
                className="button"
                onClick={() => void post(`runs/${encodeURIComponent(run.id)}/stop`, {})}
              >
                Stop
              </button>
            ) : null}
          </>
        ) : (
          <Resume run={run} />
        )}
        <Changed run={run} />
        <SaveAsFile run={run.id} />
        {run.agent === "" ? null : (
          <Link
            to="/compare"
            search={{ a: run.parent?.run ?? run.id, b: run.parent === undefined ? "" : run.id }}
            className="button"
          >
            Compare
          </Link>
        )}
      </div>
      <p className="m-0 flex flex-wrap gap-x-3 text-[12px] text-soft">
        {facts(run).map((fact) => (
          <span key={fact}>{visible(fact)}</span>
        ))}
        <Relatives run={run} />
      </p>
    </header>
  )
}

/** The run that it branched off, and those that branched off it. */
function Relatives({ run }: { run: RunDetail }) {
  return (
    <>
      {run.askedBy === undefined ? null : (
        <Link to="/runs/$run" params={{ run: run.askedBy.run }} search={{}} className="text-accent">
          asked for by {run.askedBy.run}
        </Link>
      )}
      {run.task === undefined ? null : (
        <Link to="/tasks/$task" params={{ task: run.task }} search={{}} className="text-accent">
          task {run.task}
        </Link>
      )}
      {run.parent === undefined ? null : (
        <Link to="/runs/$run" params={{ run: run.parent.run }} search={{}} className="text-accent">
          branch of {run.parent.run} after {run.parent.seq}
        </Link>
      )}
      {run.branches.map(({ id, seq }) => (
        <Link key={id} to="/runs/$run" params={{ run: id }} search={{}} className="text-accent">
          branch at {seq}: {id}
        </Link>
      ))}
      {run.undone.map(({ id, by }) => (
        <Link key={id} to="/runs/$run" params={{ run: id }} search={{}} className="text-accent">
          taken back by {who(by)}: {id}
        </Link>
      ))}
      {run.about === undefined ? null : (
        <Link to="/runs/$run" params={{ run: run.about }} search={{}} className="text-accent">
          takes back {run.about}
        </Link>
      )}
    </>
  )
}

function facts({
  id,
  agent,
  surface,
  model,
  started,
  ms,
  rounds,
  calls,
  inputTokens,
  outputTokens,
  about,
}: RunDigest): string[] {
  return [
    id,
    agent === "" ? (about === undefined ? `call over ${surface}` : `undo over ${surface}`) : `${agent} over ${surface}`,
    model,
    ago(started),
    ms === undefined ? "" : duration(ms),
    rounds === undefined || agent === "" ? "" : count(rounds, "round"),
    calls === undefined || agent === "" ? "" : count(calls, "call"),
    (inputTokens ?? 0) + (outputTokens ?? 0) === 0 ? "" : `${inputTokens ?? 0} + ${outputTokens ?? 0} tokens`,
  ].filter((fact) => fact !== "")
}
