import { useQuery } from "@tanstack/react-query"
import { Link, Outlet } from "@tanstack/react-router"
import { useState, useSyncExternalStore } from "react"
import icon from "./icon.svg"
import { pendingQuery } from "./approvals/data.ts"
import { PANES } from "./panes.ts"
import { Palette } from "./ui/palette.tsx"
import { Keys } from "./ui/keys.tsx"
import { isAway, onReach } from "./lib/api.ts"
import { useKeys } from "./lib/keys.ts"
import { applyTheme, theme, type Theme } from "./lib/theme.ts"
import { TokenGate } from "./ui/token-gate.tsx"

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" }

function ThemeButton() {
  const [chosen, setChosen] = useState(theme)
  const change = (): void => {
    applyTheme(NEXT[chosen])
    setChosen(NEXT[chosen])
  }
  return (
    <button type="button" className="button" onClick={change} title="Light, dark, or as the system">
      <span aria-hidden>{{ system: "◐", light: "☀", dark: "☾" }[chosen]}</span>
      <span className="sr-only">Colours: </span>
      <span className="max-lg:sr-only">{{ system: "As the system", light: "Light", dark: "Dark" }[chosen]}</span>
    </button>
  )
}

/** How many questions wait for somebody. */
function Waiting() {
  const { data } = useQuery(pendingQuery)
  if (data === undefined || data.length === 0) return null
  return (
    <span className="ml-1 rounded-full bg-warn px-1.5 text-[11px] text-panel">
      {data.length}
      <span className="sr-only"> waiting</span>
    </span>
  )
}

function subscribeOnline(listener: () => void): () => void {
  addEventListener("online", listener)
  addEventListener("offline", listener)
  return () => {
    removeEventListener("online", listener)
    removeEventListener("offline", listener)
  }
}

/** What stands around every pane. */
export function Shell() {
  const [palette, setPalette] = useState(false)
  const [keys, setKeys] = useState(false)
  const online = useSyncExternalStore(subscribeOnline, () => navigator.onLine)
  const away = useSyncExternalStore(onReach, isAway)
  useKeys({ "mod+k": () => setPalette(true), "?": () => setKeys(true) })
  return (
    <div className="flex h-full flex-col">
      <header className="flex flex-none items-center gap-1 border-b border-line bg-panel px-3 py-1.5 max-sm:flex-wrap">
        <a href="#content" className="sr-only focus:not-sr-only" onClick={skip}>
          Skip to the content
        </a>
        <span className="mr-3 flex items-center gap-2 font-semibold max-sm:mr-auto">
          <img src={icon} alt="" className="size-5" />
          <span>Toolwright</span>
        </span>
        <nav
          aria-label="Panes"
          className="flex min-w-0 flex-1 flex-wrap gap-0.5 max-sm:order-last max-sm:flex-none max-sm:basis-full"
        >
          {PANES.map(({ to, name }) => (
            <Link
              key={to}
              to={to}
              search={{}}
              className="rounded-md px-2.5 py-1 text-[13px] whitespace-nowrap max-lg:px-2 max-sm:px-1.5 text-soft hover:bg-raised hover:text-ink"
              activeProps={{ className: "bg-mark !text-ink font-medium", "aria-current": "page" }}
            >
              {name}
              {to === "/approvals" ? <Waiting /> : null}
            </Link>
          ))}
        </nav>
        {online ? null : <span className="badge text-warn">offline</span>}
        {online && away ? (
          <span role="status" className="badge text-warn" title="What is shown may be old; it is asked again by itself">
            the server does not answer
          </span>
        ) : null}
        <button type="button" className="button" onClick={() => setPalette(true)}>
          <span className="max-lg:sr-only">Go to</span> <kbd className="text-[11px] text-soft">⌘K</kbd>
        </button>
        <ThemeButton />
      </header>
      <main id="content" tabIndex={-1} className="min-h-0 flex-1 overflow-auto outline-none">
        <TokenGate>
          <Outlet />
        </TokenGate>
      </main>
      {palette ? <Palette close={() => setPalette(false)} /> : null}
      {keys ? <Keys close={() => setKeys(false)} /> : null}
    </div>
  )
}

function skip(event: React.MouseEvent): void {
  event.preventDefault()
  document.getElementById("content")?.focus()
}
