import { Badge } from "../ui/states.tsx"

const TONES: Readonly<Record<string, "good" | "bad" | "warn" | "soft">> = {
  done: "good",
  running: "warn",
  "needs-approval": "warn",
  failed: "bad",
  blocked: "bad",
  abandoned: "bad",
}

/** How a task stands, in a word and a colour. */
export function TaskStateBadge({ state }: { state: string }) {
  return (
    <Badge tone={TONES[state] ?? "soft"}>
      {state === "running" ? (
        <span aria-hidden className="mr-1 inline-block size-1.5 motion-safe:animate-pulse rounded-full bg-current" />
      ) : null}
      {state.replaceAll("-", " ")}
    </Badge>
  )
}
