import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { post } from "../lib/api.ts"
import { pretty } from "../lib/json.ts"
import { ago, visible } from "../lib/text.ts"
import { who } from "../lib/who.ts"
import { Body } from "../ui/body.tsx"
import { Badge, Problem } from "../ui/states.tsx"
import type { ApprovalView } from "./data.ts"

/** A call that waits for a person: what it is to do, and yes or no. It stands where it came up. */
export function Question({
  question,
  answered,
  inRun = false,
}: {
  question: ApprovalView
  answered?: () => void
  inRun?: boolean
}) {
  return (
    <section
      aria-label={`Approval of ${question.tool}`}
      className="flex flex-col gap-2 rounded-lg border border-warn bg-panel p-3"
    >
      <h2 className="flex flex-wrap items-center gap-2 font-semibold">
        <span aria-hidden className="size-2 rounded-full bg-warn" />
        <span>
          May <code className="font-mono">{visible(question.tool)}</code> run?
        </span>
        <span className="ml-auto text-[12px] font-normal text-soft">
          asked {ago(Date.parse(question.createdAt))}
          {inRun || question.run === null ? null : (
            <>
              {" in "}
              <Link to="/runs/$run" params={{ run: question.run }} search={{}} className="text-accent underline">
                run {question.run}
              </Link>
            </>
          )}
        </span>
      </h2>
      <Body text={pretty(question.arguments)} label={`Arguments of ${question.tool}`} />
      <Answer id={question.id} answered={answered} />
    </section>
  )
}

function Answer({ id, answered }: { id: string; answered: (() => void) | undefined }) {
  const [note, setNote] = useState("")
  const queries = useQueryClient()
  const answer = useMutation({
    mutationFn: (allow: boolean) =>
      post<ApprovalView>(`approvals/${encodeURIComponent(id)}`, {
        allow,
        ...(note.trim() === "" ? {} : { note: note.trim() }),
      }),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["approvals"] })
      await queries.invalidateQueries({ queryKey: ["run"] })
      answered?.()
    },
  })
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <button
          type="button"
          className="button button-main"
          disabled={answer.isPending}
          onClick={() => answer.mutate(true)}
        >
          Allow once
        </button>
        <button type="button" className="button" disabled={answer.isPending} onClick={() => answer.mutate(false)}>
          Deny
        </button>
        <input
          className="field max-w-80 min-w-40 flex-1"
          aria-label="Note for the record and the model"
          placeholder="Why (the model is told when you deny)"
          value={note}
          onChange={(event) => setNote(event.target.value)}
        />
      </div>
      {answer.error === null ? null : <Problem title="The answer was not taken" error={answer.error} />}
    </>
  )
}

const TONES = { allowed: "good", consumed: "good", denied: "bad", pending: "warn" } as const

/** One that needs no answer any more. */
export function Answered({ question }: { question: ApprovalView }) {
  const { tool, state, run, note, answeredBy, answeredAt, createdAt } = question
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
      <Badge tone={TONES[state as keyof typeof TONES] ?? "soft"}>
        {state === "consumed" ? "allowed" : state}
        {answeredBy === null ? "" : ` by ${visible(who(answeredBy))}`}
        {state === "consumed" ? ", used" : ""}
      </Badge>
      <code className="font-mono text-[12.5px]">{visible(tool)}</code>
      <span className="min-w-0 flex-1 truncate font-mono text-[12px] text-soft">
        {visible(JSON.stringify(question.arguments) ?? "")}
      </span>
      {note === null ? null : <span className="text-soft">“{visible(note)}”</span>}
      <span className="text-[12px] text-soft">{ago(Date.parse(answeredAt ?? createdAt))}</span>
      {run === null ? null : (
        <Link to="/runs/$run" params={{ run }} search={{}} className="text-accent underline">
          run
        </Link>
      )}
    </li>
  )
}
