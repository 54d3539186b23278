import type { ReactNode } from "react"
import { ApiError } from "../lib/api.ts"
import { visible } from "../lib/text.ts"

/** While something comes. */
interface LoadingProps {
  what?: string
  /** The pane's heading, where nothing else stands in it yet. */
  heading?: string
}

export function Loading({ what = "Loading", heading }: LoadingProps) {
  return (
    <>
      {heading === undefined ? null : <h1 className="sr-only">{heading}</h1>}
      <p role="status" className="p-4 text-soft">
        {what}…
      </p>
    </>
  )
}

interface EmptyProps {
  title: string
  /** Nothing else stands in the pane, so this is its heading. */
  heading?: boolean
  children?: ReactNode
}

/** Where nothing is yet: what would stand here, and how it comes about. */
export function Empty({ title, heading = false, children }: EmptyProps) {
  const Title = heading ? "h1" : "p"
  return (
    <div className="mx-auto max-w-md p-8 text-center">
      <Title className="mb-1 text-base font-medium">{title}</Title>
      <div className="text-soft [&_code]:whitespace-nowrap">{children}</div>
    </div>
  )
}

/** What went wrong, and what to do. */
export function Problem({ title, error, retry }: { title: string; error: unknown; retry?: () => void }) {
  const text = error instanceof Error ? error.message : String(error)
  const hint = error instanceof ApiError ? error.hint : undefined
  const away = error instanceof TypeError
  return (
    <div role="alert" className="m-3 rounded-md border border-bad bg-panel p-3">
      <p className="font-medium text-bad">{title}</p>
      <p className="whitespace-pre-wrap">
        {away ? "The server does not answer. It is asked again when you come back." : visible(text)}
      </p>
      {hint === undefined ? null : <p className="text-soft">{visible(hint)}</p>}
      {retry === undefined ? null : (
        <button type="button" className="button mt-2" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

const COLOURS = {
  good: "text-good border-good/40",
  bad: "text-bad border-bad/40",
  warn: "text-warn border-warn/40",
  soft: "",
}

export function Badge({
  tone = "soft",
  children,
  title,
}: {
  tone?: keyof typeof COLOURS
  children: ReactNode
  title?: string
}) {
  return (
    <span className={`badge ${COLOURS[tone]}`} title={title}>
      {children}
    </span>
  )
}
