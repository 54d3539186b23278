import { Link } from "@tanstack/react-router"
import { useQuestionsOf } from "../approvals/data.ts"
import { Question } from "../approvals/question.tsx"
import { parse, pretty } from "../lib/json.ts"
import { visible } from "../lib/text.ts"
import { Body } from "../ui/body.tsx"
import { Problem } from "../ui/states.tsx"
import type { CallPart, Part, Said } from "./data.ts"

/** What one side has said: text, and calls that fold open. */
export function Message({ said, live = false }: { said: Said; live?: boolean }) {
  const { by, parts, run, problem } = said
  const questions = useQuestionsOf(run ?? "")
  return (
    <li
      className={
        by === "person" ? "ml-auto max-w-[85%] rounded-lg border border-line bg-mark px-3 py-2" : "flex flex-col gap-2"
      }
      aria-label={by === "person" ? "You" : "The model"}
    >
      {parts.map((part, index) => (
        <PartView key={index} part={part} />
      ))}
      {live && parts.length === 0 ? <p className="m-0 text-soft">…</p> : null}
      {run === undefined ? null : questions.map((question) => <Question key={question.id} question={question} inRun />)}
      {problem === undefined ? null : (
        <Problem
          title={problem.code === "waiting" ? "It waits for you" : `It ended: ${problem.code.replaceAll("-", " ")}`}
          error={`${problem.message}${problem.hint === undefined ? "" : `\n${problem.hint}`}`}
        />
      )}
      {run === undefined || live ? null : (
        <p className="m-0 text-[12px]">
          <Link to="/runs/$run" params={{ run }} search={{}} className="text-accent underline">
            How it came to this
          </Link>
        </p>
      )}
    </li>
  )
}

function PartView({ part }: { part: Part }) {
  if (part.kind === "text") return <p className="m-0 break-words whitespace-pre-wrap">{visible(part.text)}</p>
  if (part.kind === "reasoning")
    return (
      <details>
        <summary className="cursor-pointer text-[13px] text-soft">Reasoning</summary>
        <p className="m-0 whitespace-pre-wrap text-soft">{visible(part.text)}</p>
      </details>
    )
  return <CallView call={part} />
}

/** Arguments are seen, the result is folded, and open where it failed. */
function CallView({ call }: { call: CallPart }) {
  const { name, args, success, output, code } = call
  const parsed = parse(args)
  return (
    <details className="rounded-md border border-line bg-panel px-2 py-1" open={success === false}>
      <summary className="flex cursor-pointer items-baseline gap-2 overflow-hidden">
        <span className={success === undefined ? "text-warn" : success ? "text-good" : "text-bad"}>
          <span aria-hidden>{success === undefined ? "…" : success ? "✓" : "✕"}</span>
          <span className="sr-only">{success === undefined ? "runs" : success ? "succeeded" : "failed"}</span>
        </span>
        <span className="flex-none font-mono text-[12.5px] font-medium">{visible(name)}</span>
        <span className="truncate font-mono text-[12px] text-soft">{visible(args)}</span>
      </summary>
      <div className="mt-2 flex flex-col gap-2 pb-1">
        <Body text={"value" in parsed ? pretty(parsed.value) : args} label={`Arguments of ${name}`} />
        {code === undefined ? null : <p className="m-0 text-bad">{visible(code)}</p>}
        {output === undefined ? null : <Body text={output} label={`Result of ${name}`} />}
      </div>
    </details>
  )
}
