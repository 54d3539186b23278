import { Badge } from "../ui/states.tsx"
import type { ToolInfo } from "./data.ts"

/** What a tool says of itself, in words. */
export function EffectBadges({ tool: { effects }, short = false }: { tool: ToolInfo; short?: boolean }) {
  if (effects === undefined) return <Badge title="It says nothing of what it does">unknown</Badge>
  const { readOnly, destructive, idempotent, network, executes } = effects
  if (readOnly === true)
    return (
      <>
        <Badge tone="good">reads</Badge>
        {network === true && !short ? <Badge>network</Badge> : null}
      </>
    )
  return (
    <>
      <Badge tone={destructive === true ? "bad" : "warn"}>
        {destructive === true ? "destroys" : executes === true ? "runs" : "writes"}
      </Badge>
      {network === true && !short ? <Badge>network</Badge> : null}
      {idempotent === true && !short ? <Badge title="Twice does the same as once">idempotent</Badge> : null}
    </>
  )
}
