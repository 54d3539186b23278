import { type ReactNode, useId, useState } from "react"
import { roving } from "./roving.ts"

export interface TabsProps {
  /** What is chosen among, for those who hear the page. */
  label: string
  /** The title of the one that is shown first. */
  first: string
  panes: Readonly<Record<string, ReactNode>>
}

const move = roving("tab", ["ArrowLeft", "ArrowRight"])

/** One of several panes, by title. What is not shown is not there. */
export function Tabs({ label, first, panes }: TabsProps) {
  const [shown, setShown] = useState(first)
  const id = useId()
  return (
    <div>
      <div role="tablist" tabIndex={-1} aria-label={label} className="mb-2 flex gap-1" onKeyDown={move}>
        {Object.keys(panes).map((title) => (
          <button
            key={title}
            type="button"
            role="tab"
            id={`${id}-${title}`}
            aria-selected={title === shown}
            aria-controls={title === shown ? `${id}-pane` : undefined}
            tabIndex={title === shown ? 0 : -1}
            className="rounded-md px-2.5 py-1 text-[13px] text-soft aria-selected:bg-mark aria-selected:font-medium aria-selected:text-ink"
            onClick={() => setShown(title)}
          >
            {title}
          </button>
        ))}
      </div>
      <div key={shown} role="tabpanel" id={`${id}-pane`} aria-labelledby={`${id}-${shown}`}>
        {panes[shown]}
      </div>
    </div>
  )
}
