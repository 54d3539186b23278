import { Badge } from "../ui/states.tsx"
import type { RunDigest } from "./data.ts"

const TONES: Readonly<Record<string, "good" | "bad" | "warn" | "soft">> = {
  completed: "good",
  "completed-with-failures": "warn",
  "nothing-done": "warn",
  "max-rounds": "bad",
  "no-tool-use": "warn",
  stuck: "bad",
  failed: "bad",
  running: "warn",
  waiting: "warn",
  interrupted: "bad",
}

/** How a run stands, in a word and a colour; the word alone says it too. */
export function Status({ run: { status } }: { run: Pick<RunDigest, "status"> }) {
  return (
    <Badge tone={TONES[status] ?? "soft"}>
      {status === "running" ? (
        <span aria-hidden className="mr-1 inline-block size-1.5 motion-safe:animate-pulse rounded-full bg-current" />
      ) : null}
      {status.replaceAll("-", " ")}
    </Badge>
  )
}
