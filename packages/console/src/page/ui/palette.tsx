import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState, type KeyboardEvent } from "react"
import { useTools } from "../tools/data.ts"
import { runsQuery } from "../runs/data.ts"
import { PANES } from "../panes.ts"
import { Window } from "./dialog.tsx"
import { visible } from "../lib/text.ts"

interface Place {
  key: string
  name: string
  about: string
  go: { to: string; params?: Record<string, string> }
}

const MOST = 60

function usePlaces(): Place[] {
  const tools = useTools().data ?? []
  const runs = useQuery(runsQuery({})).data?.runs ?? []
  return [
    ...PANES.map(({ to, name }) => ({ key: to, name, about: "pane", go: { to } })),
    ...tools.map(({ name, description }) => ({
      key: `tool ${name}`,
      name,
      about: description,
      go: { to: "/tools/$name", params: { name } },
    })),
    ...runs.map(({ id, title, status }) => ({
      key: `run ${id}`,
      name: title,
      about: `run ${id}, ${status}`,
      go: { to: "/runs/$run", params: { run: id } },
    })),
  ]
}

/** Goes anywhere by a few letters. */
export function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState("")
  const [chosen, setChosen] = useState(0)
  const navigate = useNavigate()
  const words = text.toLowerCase().split(/\s+/)
  const found = usePlaces()
    .filter(({ key, name, about }) => words.every((word) => `${key} ${name} ${about}`.toLowerCase().includes(word)))
    .slice(0, MOST)
  const go = (place: Place | undefined): void => {
    if (place === undefined) return
    close()
    void navigate({ ...place.go, search: {} } as never)
  }
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === "Enter") go(found[chosen])
    else if (step !== undefined) setChosen(Math.max(0, Math.min(found.length - 1, chosen + step)))
    else return
    event.preventDefault()
  }
  return (
    <Window title="Go to" close={close}>
      <input
        className="field"
        role="combobox"
        aria-label="Tool, run or pane"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={found[chosen] === undefined ? undefined : `place-${chosen}`}
        value={text}
        onKeyDown={press}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Places" className="mt-2">
        {found.map((place, index) => (
          <li
            key={place.key}
            id={`place-${index}`}
            role="option"
            aria-selected={index === chosen}
            className="flex cursor-pointer gap-2 rounded px-2 py-1 aria-selected:bg-mark"
            onClick={() => go(place)}
          >
            <span className="flex-none max-w-[60%] truncate font-medium">{visible(place.name)}</span>
            <span className="truncate text-soft">{visible(place.about)}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p className="p-2 text-soft">Nothing has these words in it.</p> : null}
    </Window>
  )
}
