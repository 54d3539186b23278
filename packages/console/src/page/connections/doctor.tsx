import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { ApiError, stream } from "../lib/api.ts"
import { isObject } from "../lib/json.ts"
import { visible } from "../lib/text.ts"
import { Problem } from "../ui/states.tsx"

interface Tries {
  called: number
  of: number
  otherwise?: string
}

/** What an examination has found; see `toolwright doctor`. */
interface Found {
  baseUrl: string
  model: string
  reachable: boolean
  dialect: string
  version?: string
  listed?: boolean
  contextTokens?: number
  template: string
  format: string
  formatBecause: string
  saysNative: boolean
  native: Tries
  text: Tries
  grammar: string
  structuralTags?: string
  usable: boolean
}

interface Check {
  name: string
  /** Undefined where it is neither. */
  ok: boolean | undefined
  says: string
  /** What to do where it is not. */
  todo?: string
}

const tried = ({ called, of, otherwise }: Tries): string =>
  of === 0
    ? "not tried"
    : `called the tool in ${called} of ${of} tries${otherwise === undefined ? "" : `. ${otherwise}`}`

const GRAMMARS: Readonly<Record<string, string>> = {
  held: "holds the model: calls in text cannot come out malformed",
  ignored: "is taken and passed over: calls in text are checked after they were written",
  refused: "is refused by the server",
  "not offered": "is not offered by this server",
}

/** The checks one by one: which failed, and what to do. */
export function checksOf(found: Found): Check[] {
  const there: Check = {
    name: "Server",
    ok: found.reachable,
    says: found.reachable
      ? `${found.dialect === "generic" ? "answers" : `is ${found.dialect}`}${found.version === undefined ? "" : ` ${found.version}`}`
      : "does not answer",
    todo: "Start it, or name another: --base-url http://localhost:11434/v1",
  }
  if (!found.reachable) return [there]
  const enough = ({ called, of }: Tries): boolean => of > 0 && called >= of * 0.8
  return [
    there,
    {
      name: "Model",
      ok: found.listed,
      says: found.listed === false ? "is not listed by the server" : "is there",
      todo: `Check its name, or have the server load it: ${found.model}`,
    },
    {
      name: "Window",
      ok: found.contextTokens === undefined ? undefined : true,
      says: found.contextTokens === undefined ? "is not told by the server" : `${found.contextTokens} tokens`,
      todo: "Say it with --context-tokens, so that long runs are shortened in time.",
    },
    {
      name: "Template",
      ok: found.template === "shown" ? true : undefined,
      says: `${found.template} by the server; calls in text are read as ${found.format}. ${found.formatBecause}`,
    },
    {
      name: "Tool use by the server",
      ok: found.native.of === 0 ? undefined : enough(found.native),
      says: tried(found.native),
      todo: "--native-tools false writes the tools into the prompt instead.",
    },
    {
      name: "Tools in the prompt",
      ok: found.text.of === 0 ? undefined : enough(found.text),
      says: tried(found.text),
      todo: "A model that was trained to call tools, or a larger one, does better.",
    },
    heldBy("Grammar", found.grammar),
    ...(found.structuralTags === undefined ? [] : [heldBy("Structural tags", found.structuralTags)]),
  ]
}

function heldBy(name: string, said: string): Check {
  return { name, ok: said === "held" ? true : undefined, says: GRAMMARS[said] ?? said }
}

/** Examines the model, step by step, and says what follows. */
export function Doctor({ known }: { known: unknown }) {
  const [found, setFound] = useState<unknown>(known)
  const [steps, setSteps] = useState<string[]>()
  const [problem, setProblem] = useState<unknown>()
  const running = useRef<AbortController>(undefined)
  const queries = useQueryClient()
  useEffect(() => () => running.current?.abort(), [])
  const examine = async (): Promise<void> => {
    const stop = (running.current = new AbortController())
    setProblem(undefined)
    setSteps([])
    try {
      await follow(stop.signal, { found: setFound, step: (line) => setSteps((lines = []) => [...lines, line]) })
      await queries.invalidateQueries({ queryKey: ["connections"] })
    } catch (thrown) {
      if (!stop.signal.aborted) setProblem(thrown)
    }
    setSteps(undefined)
  }
  return (
    <div className="flex flex-col gap-2">
      <div className="flex gap-2">
        <button
          type="button"
          className="button button-main"
          disabled={steps !== undefined}
          onClick={() => void examine()}
        >
          {steps !== undefined ? "Examining…" : "Examine it"}
        </button>
        {steps === undefined ? null : (
          <button type="button" className="button" onClick={() => running.current?.abort()}>
            Stop
          </button>
        )}
      </div>
      {steps === undefined ? null : (
        <ol role="status" className="m-0 text-soft">
          {steps.map((line) => (
            <li key={line}>{visible(line)}</li>
          ))}
        </ol>
      )}
      {problem === undefined ? null : <Problem title="It could not be examined" error={problem} />}
      {isObject(found) ? <Findings found={found as unknown as Found} /> : null}
    </div>
  )
}

async function follow(
  signal: AbortSignal,
  { found, step }: { found: (value: unknown) => void; step: (line: string) => void },
): Promise<void> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tries: 5 }),
    signal,
  }
  for await (const { event, data } of stream("connections/examine", init)) {
    const value = JSON.parse(data) as unknown
    if (event === "step") step(String(value))
    else if (event === "found") found(value)
    else {
      const { code = "", message = "", hint = "" } = value as Record<string, string>
      throw new ApiError(0, { error: { code, message, hint } })
    }
  }
}

function Findings({ found }: { found: Found }) {
  return (
    <section aria-label="What was found" className="flex flex-col gap-1">
      <p className={`m-0 font-medium ${found.usable ? "text-good" : "text-bad"}`}>
        {found.usable
          ? "This model calls tools when it is asked to."
          : "This model does not call tools reliably in either way."}
      </p>
      <ul className="m-0 flex flex-col gap-1">
        {checksOf(found).map(({ name, ok, says, todo }) => (
          <li key={name} className="grid grid-cols-[1rem_9.5rem_minmax(0,1fr)] gap-x-2 max-sm:grid-cols-[1rem_1fr]">
            <span className={ok === undefined ? "text-soft" : ok ? "text-good" : "text-bad"}>
              <span aria-hidden>{ok === undefined ? "–" : ok ? "✓" : "✕"}</span>
              <span className="sr-only">{ok === undefined ? "" : ok ? "passed" : "failed"}</span>
            </span>
            <span className="font-medium">{name}</span>
            <span className="max-sm:col-span-2">
              {visible(says)}
              {ok === true || todo === undefined ? null : <span className="block text-soft">{visible(todo)}</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
