import type { EvaluationDigest } from "@toolwright/toolbox"
import { Badge } from "../ui/states.tsx"

/** How an evaluation stands, in a word and a colour; the word alone says it too. */
export function Standing({
  evaluation: { state, reached },
}: {
  evaluation: Pick<EvaluationDigest, "state" | "reached">
}) {
  if (state === "running") return <Badge tone="warn">under way</Badge>
  if (state === "open") return <Badge tone="warn">not measured in full</Badge>
  return reached === true ? <Badge tone="good">reached</Badge> : <Badge tone="bad">not reached</Badge>
}
