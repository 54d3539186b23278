import { parse, pretty } from "../lib/json.ts"
import { visible } from "../lib/text.ts"
import { Body } from "../ui/body.tsx"

/** A call that somebody has to permit, where it is made: what it is to do, why it is asked about, and yes or no. */
export function Confirm({
  tool,
  text,
  because,
  answer,
}: {
  tool: string
  /** The arguments as they would be sent. */
  text: string
  because: string | undefined
  answer: (allow: boolean) => void
}) {
  const parsed = parse(text.trim() === "" ? "{}" : text)
  return (
    <section
      aria-label={`Approval of ${tool}`}
      className="flex flex-col gap-2 rounded-lg border border-warn bg-panel p-3"
    >
      <h2 className="flex flex-wrap items-center gap-2 font-semibold">
        <span aria-hidden className="size-2 rounded-full bg-warn" />
        <span>
          May <code className="font-mono">{visible(tool)}</code> run?
        </span>
        {because === undefined ? null : (
          <span className="text-[12px] font-normal text-soft">It is asked about: {visible(because)}.</span>
        )}
      </h2>
      <Body text={"value" in parsed ? pretty(parsed.value) : text} label={`What ${tool} would be given`} />
      <div className="flex flex-wrap items-center gap-2">
        <button type="button" className="button button-main" autoFocus onClick={() => answer(true)}>
          Allow once
        </button>
        <button type="button" className="button" onClick={() => answer(false)}>
          Deny
        </button>
      </div>
    </section>
  )
}
