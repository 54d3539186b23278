import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import { ApiError, postText, request } from "../lib/api.ts"
import { isObject, lostInForm, parse, pretty } from "../lib/json.ts"
import { useKeys } from "../lib/keys.ts"
import { emptyTexts, startingValue } from "../lib/schema.ts"
import { visible } from "../lib/text.ts"
import { CopyMenu } from "../ui/copy.tsx"
import { JsonEditor } from "../ui/json-editor.tsx"
import { Tabs } from "../ui/tabs.tsx"
import { EffectBadges } from "./badges.tsx"
import type { CallAnswer, CheckAnswer, ToolInfo } from "./data.ts"
import { SchemaForm } from "./form.tsx"
import { Answer } from "./answer.tsx"
import { Confirm } from "./confirm.tsx"
import { History } from "./history.tsx"

/** One text is the value; the form and the JSON are two ways of writing it. */
function useArguments(tool: ToolInfo, args: string | undefined) {
  const [text, setText] = useState(() => args ?? pretty(startingValue(tool.parameters, tool.parameters) ?? {}))
  const parsed = parse(text.trim() === "" ? "{}" : text)
  const lost = "value" in parsed ? lostInForm(text) : undefined
  const problem =
    "problem" in parsed ? parsed.problem : isObject(parsed.value) ? undefined : "The arguments must be an object."
  return { text, setText, value: "value" in parsed ? parsed.value : undefined, lost, problem }
}

/** Asks the server what it thinks of the arguments, a moment after they were changed. */
function useCheck(name: string, text: string, problem: string | undefined): CheckAnswer | undefined {
  const [answer, setAnswer] = useState<{ text: string; check: CheckAnswer }>()
  useEffect(() => {
    if (problem !== undefined) return
    const aborted = new AbortController()
    const timer = setTimeout(() => {
      postText<CheckAnswer>(`tools/${encodeURIComponent(name)}/check`, text, aborted.signal)
        .then((check) => setAnswer({ text, check }))
        .catch(() => setAnswer(undefined))
    }, 250)
    return () => {
      clearTimeout(timer)
      aborted.abort()
    }
  }, [name, text, problem])
  return answer?.text === text ? answer.check : undefined
}

/** A call as it is sent. */
interface Sent {
  text: string
  /** Somebody has seen it, and permits it. */
  approved: boolean
}

async function call(name: string, { text, approved }: Sent, signal: AbortSignal): Promise<CallAnswer> {
  const headers = { "content-type": "application/json", ...(approved ? { "x-toolwright-approved": "1" } : {}) }
  const body = text.trim() === "" ? "{}" : text
  try {
    return (await (
      await request(`tools/${encodeURIComponent(name)}`, { method: "POST", headers, body, signal })
    ).json()) as CallAnswer
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    const { message, code, hint } = thrown
    return {
      success: false,
      result: null,
      error: message,
      metadata: { toolwright: { error: { code, message, ...(hint === undefined ? {} : { hint }) } } },
      execution_time_ms: 0,
    }
  }
}

/** Makes the call; one that has to be permitted waits until somebody has, here. */
function useCall(tool: ToolInfo, text: string, check: CheckAnswer | undefined) {
  const running = useRef<AbortController>(undefined)
  const queries = useQueryClient()
  /** What is asked about, as it would be sent. */
  const [asked, setAsked] = useState<{ text: string; because: string | undefined }>()
  const made = useMutation({
    mutationFn: (sent: Sent) => call(tool.name, sent, (running.current = new AbortController()).signal),
    onSuccess: ({ metadata, error }, sent) => {
      // Whether it has to be permitted may depend on how things stand when it is made.
      if (metadata.permission === "ask" && !sent.approved) setAsked({ text: sent.text, because: error ?? undefined })
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ["runs"] }),
  })
  const make = (): void => {
    if (check?.permission !== "ask") return made.mutate({ text, approved: false })
    made.reset()
    setAsked({ text, because: check.because })
  }
  const answer = (allow: boolean): void => {
    if (allow && asked !== undefined) made.mutate({ text: asked.text, approved: true })
    setAsked(undefined)
  }
  // What was changed since is another call.
  return { made, make, answer, asked: asked?.text === text ? asked : undefined, stop: () => running.current?.abort() }
}

export function ToolView({ tool, args }: { tool: ToolInfo; args: string | undefined }) {
  const state = useArguments(tool, args)
  const { text, problem } = state
  const check = useCheck(tool.name, text, problem)
  const { made, make, answer, asked, stop } = useCall(tool, text, check)
  const run = (): void => {
    if (problem === undefined && !made.isPending) make()
  }
  useKeys({ r: run, "mod+enter": run })
  return (
    <div className="mx-auto flex max-w-5xl flex-col gap-4 p-4">
      <Heading tool={tool} />
      <form
        className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-3"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          run()
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) run()
        }}
      >
        <ArgumentTabs tool={tool} state={state} check={check} inJson={args !== undefined} />
        <Verdict problem={problem} check={check} empty={emptyTexts(tool.parameters, state.value)} />
        <div className="flex flex-wrap items-center gap-2">
          <button type="submit" className="button button-main" disabled={problem !== undefined || made.isPending}>
            {made.isPending ? "Running…" : "Call"}
          </button>
          {made.isPending ? (
            <button type="button" className="button" onClick={stop}>
              Stop
            </button>
          ) : null}
          <CopyMenu name={tool.name} args={text} />
          <span className="ml-auto text-[12px] text-soft max-sm:hidden">⌘↵ calls</span>
        </div>
      </form>
      {asked === undefined ? (
        <Answer answer={made.data} error={made.error} pending={made.isPending} />
      ) : (
        <Confirm tool={tool.name} {...asked} answer={answer} />
      )}
      <History tool={tool.name} />
    </div>
  )
}

interface ArgumentTabsProps {
  tool: ToolInfo
  state: ReturnType<typeof useArguments>
  check: CheckAnswer | undefined
  inJson: boolean
}

function ArgumentTabs({ tool, state, check, inJson }: ArgumentTabsProps) {
  const { text, setText, value, lost, problem } = state
  const unreadable = problem ?? lost
  return (
    <Tabs
      label="How the arguments are written"
      first={inJson && lost !== undefined ? "JSON" : "Form"}
      panes={{
        Form:
          unreadable === undefined ? (
            <SchemaForm
              schema={tool.parameters}
              value={value}
              change={(changed) => setText(pretty(changed))}
              check={check}
            />
          ) : (
            <p className="text-warn">
              Only the JSON shows these arguments as they are: {visible(unreadable)}. Nothing of it was changed.
            </p>
          ),
        JSON: <JsonEditor label={`Arguments of ${tool.name}`} value={text} change={setText} />,
      }}
    />
  )
}

function Heading({ tool }: { tool: ToolInfo }) {
  return (
    <header>
      <Link to="/tools" search={{}} className="mb-2 inline-block text-accent md:hidden">
        ← All tools
      </Link>
      <h1 className="flex flex-wrap items-center gap-2 text-lg font-semibold">
        <span className="font-mono break-all">{visible(tool.name)}</span>
        <EffectBadges tool={tool} />
        {tool.tags.map((tag) => (
          <span key={tag} className="badge">
            {visible(tag)}
          </span>
        ))}
      </h1>
      <p className="mt-1 max-h-60 overflow-auto whitespace-pre-wrap text-soft" tabIndex={0}>
        {visible(tool.description)}
      </p>
    </header>
  )
}

function fits(empty: readonly string[]) {
  if (empty.length === 0) return "The arguments fit."
  const which = empty.map((name) => visible(name)).join(", ")
  return <span className="text-warn">{`The arguments fit, but nothing stands in ${which}.`}</span>
}

interface VerdictProps {
  problem: string | undefined
  check: CheckAnswer | undefined
  /** Needed texts in which nothing stands: a schema may take them, a tool hardly. */
  empty: readonly string[]
}

/** What the server says of the arguments before they are sent. */
function Verdict({ problem, check, empty }: VerdictProps) {
  if (problem !== undefined)
    return (
      <p role="status" className="text-bad">
        This is no JSON object: {visible(problem)}
      </p>
    )
  if (check === undefined)
    return (
      <p role="status" className="text-soft">
        Checking…
      </p>
    )
  const { valid, error, repairs, permission, because } = check
  return (
    <div role="status" className="flex flex-col gap-1">
      <p className={valid ? "text-good" : "text-bad"}>
        {valid ? (
          fits(empty)
        ) : (
          <span className="whitespace-pre-wrap">{visible(error?.message ?? "They do not fit.")}</span>
        )}
        {valid && permission === "ask" ? (
          <span className="text-warn"> You are asked before it runs: {visible(because ?? "a rule says so")}.</span>
        ) : null}
        {valid && permission === "deny" ? (
          <span className="text-bad"> It may not run: {visible(because ?? "a rule says so")}.</span>
        ) : null}
      </p>
      {repairs.length > 0 ? (
        <p className="text-warn">
          Put right on the way:{" "}
          {repairs
            .map(
              ({ path, kind, from, to }) =>
                `${path || "the call"} (${kind}: ${JSON.stringify(from)} → ${JSON.stringify(to)})`,
            )
            .join(", ")}
        </p>
      ) : null}
    </div>
  )
}
