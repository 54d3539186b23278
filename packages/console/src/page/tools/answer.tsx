import { Body } from "../ui/body.tsx"
import { Badge, Problem } from "../ui/states.tsx"
import { duration, visible } from "../lib/text.ts"
import { isObject, pretty } from "../lib/json.ts"
import type { CallAnswer } from "./data.ts"

/** What a call brought: first what a model would be shown, then the data behind it. */
export function Answer({
  answer,
  error,
  pending,
}: {
  answer: CallAnswer | undefined
  error: unknown
  pending: boolean
}) {
  if (pending)
    return (
      <p role="status" className="text-soft">
        It runs…
      </p>
    )
  if (error !== null && error !== undefined)
    return error instanceof DOMException && error.name === "AbortError" ? (
      <p role="status" className="text-warn">
        Stopped. The server was told, and cancels the tool.
      </p>
    ) : (
      <Problem title="The call did not come through" error={error} />
    )
  return answer === undefined ? null : <AnswerParts answer={answer} />
}

function AnswerParts({ answer }: { answer: CallAnswer }) {
  const { success, result, error: failed, metadata, execution_time_ms: took } = answer
  const { output, error: told, modifiedFiles = [] } = metadata.toolwright ?? {}
  const { code, hint } = told ?? {}
  const text = shownText(answer)
  return (
    <section aria-label="Result" className="rounded-lg border border-line bg-panel p-3">
      <h2 className="mb-2 flex flex-wrap items-center gap-2 font-semibold">
        Result
        <Badge tone={success ? "good" : "bad"}>{success ? "succeeded" : "failed"}</Badge>
        {code === undefined ? null : <Badge tone="bad">{visible(code)}</Badge>}
        <span className="text-[12px] font-normal text-soft">{duration(took)}</span>
      </h2>
      {failed === null ? null : <p className="mb-2 whitespace-pre-wrap text-bad">{visible(failed)}</p>}
      {hint === undefined ? null : <p className="mb-2 whitespace-pre-wrap text-soft">{visible(hint)}</p>}
      {modifiedFiles.length === 0 ? null : <p className="mb-2">Changed: {visible(modifiedFiles.join(", "))}</p>}
      {success || (output !== undefined && output !== failed) ? (
        <Body text={text} label="What a model is shown" />
      ) : null}
      {result === null || typeof result === "string" ? null : (
        <details className="mt-2">
          <summary className="cursor-pointer text-soft">Data</summary>
          <Body text={pretty(result)} label="Data of the result" />
        </details>
      )}
    </section>
  )
}

/** What a model would be shown of it. */
function shownText({ result, metadata }: CallAnswer): string {
  const { output, outputField } = metadata.toolwright ?? {}
  const field = isObject(result) && outputField !== undefined ? result[outputField] : undefined
  return (
    output ?? (typeof field === "string" ? field : undefined) ?? (typeof result === "string" ? result : pretty(result))
  )
}
