import { useState } from "react"
import { bytes, headAndTail, visible } from "../lib/text.ts"

/** A text of any length: of a long one head and tail, the rest when it is asked for. Never as HTML. */
export function Body({ text, label, whole = false }: { text: string; label: string; whole?: boolean }) {
  const [all, setAll] = useState(whole)
  const { head, tail, left } = headAndTail(text)
  if (left === 0 || all)
    return (
      <pre className="code max-h-[60vh]" tabIndex={0} role="region" aria-label={label}>
        {visible(text)}
      </pre>
    )
  return (
    <div>
      <pre className="code max-h-[40vh]" tabIndex={0} role="region" aria-label={`${label}, beginning`}>
        {visible(head)}
      </pre>
      <p className="my-1 flex items-center gap-2 text-soft">
        {bytes(left)} left out
        <button type="button" className="button" onClick={() => setAll(true)}>
          Show all of it
        </button>
      </p>
      <pre className="code max-h-[20vh]" tabIndex={0} role="region" aria-label={`${label}, end`}>
        {visible(tail)}
      </pre>
    </div>
  )
}
