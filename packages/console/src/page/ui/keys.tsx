import { Window } from "./dialog.tsx"

const KEYS = [
  ["⌘K", "go to a tool, a run or a pane"],
  ["/", "filter"],
  ["j, k", "next, previous"],
  ["e", "expand or fold"],
  ["Enter", "open"],
  ["r", "run the call again"],
  ["f", "failed only"],
  ["?", "these keys"],
] as const

export function Keys({ close }: { close: () => void }) {
  return (
    <Window title="Keys" close={close}>
      <dl className="grid grid-cols-[5rem_1fr] gap-y-1.5">
        {KEYS.map(([key, does]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="badge font-mono">{key}</kbd>
            </dt>
            <dd className="m-0">{does}</dd>
          </div>
        ))}
      </dl>
    </Window>
  )
}
