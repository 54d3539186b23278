import { useNavigate, useParams, useSearch } from "@tanstack/react-router"
import { useRef, useState } from "react"
import { useKeys } from "../lib/keys.ts"
import { visible } from "../lib/text.ts"
import { Empty, Loading, Problem } from "../ui/states.tsx"
import { EffectBadges } from "./badges.tsx"
import { useTools, type ToolInfo } from "./data.ts"
import { ToolView } from "./tool.tsx"

/** All tools on one side, the chosen one beside it. */
export function Tools() {
  const { name } = useParams({ strict: false }) as { name?: string }
  const { args } = useSearch({ strict: false }) as { args?: string }
  const tools = useTools()
  if (tools.isPending) return <Loading heading="Tools" what="Asking for the tools" />
  if (tools.data === undefined)
    return <Problem title="The tools cannot be shown" error={tools.error} retry={() => void tools.refetch()} />
  if (tools.data.length === 0)
    return (
      <Empty heading title="No tools are offered here">
        Without a token the server offers only tools that read. Start it with <code>--token</code>, or with{" "}
        <code>toolwright ui</code>.
      </Empty>
    )
  const chosen = tools.data.find((tool) => tool.name === name)
  return (
    <div className="flex h-full">
      {chosen === undefined ? <h1 className="sr-only">Tools</h1> : null}
      <ToolList tools={tools.data} name={name} />
      <section
        aria-label="Tool"
        className={`min-w-0 flex-1 overflow-auto ${name === undefined ? "max-md:hidden" : ""}`}
      >
        {chosen !== undefined ? (
          <ToolView key={`${chosen.name} ${args ?? ""}`} tool={chosen} args={args} />
        ) : name === undefined ? (
          <Empty title="Choose a tool">
            Fill in its form, or write its arguments as JSON, and call it. Every call is put on record and stands among
            the runs.
          </Empty>
        ) : (
          <Problem
            title={`There is no tool '${visible(name)}'`}
            error="It may have been taken away, or this token does not open it."
          />
        )}
      </section>
    </div>
  )
}

function ToolList({ tools, name }: { tools: ToolInfo[]; name: string | undefined }) {
  const [text, setText] = useState("")
  const input = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  const words = text.trim().toLowerCase().split(/\s+/)
  const found = tools.filter((tool) => {
    // An action of a tool has a name on record, and is found by that alone.
    if (tool.action_of !== undefined) return text.trim() !== "" && words.every((word) => tool.name.includes(word))
    const all = `${tool.name} ${tool.title ?? ""} ${tool.description} ${tool.tags.join(" ")}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
  const open = (tool: ToolInfo | undefined): void => {
    if (tool !== undefined) void navigate({ to: "/tools/$name", params: { name: tool.name }, search: {} })
  }
  const step = (by: number) => (): void => {
    const index = found.findIndex((tool) => tool.name === name)
    open(found[Math.max(0, Math.min(found.length - 1, index + by))])
  }
  useKeys({ "/": () => input.current?.focus(), j: step(1), k: step(-1) })
  return (
    <aside
      aria-label="Tools"
      className={
        "flex w-72 flex-none flex-col border-r border-line bg-panel max-md:w-full max-md:border-r-0 " +
        (name === undefined ? "" : "max-md:hidden")
      }
    >
      <div className="flex-none border-b border-line p-2">
        <input
          ref={input}
          type="search"
          className="field"
          placeholder="Filter tools"
          aria-label="Filter tools"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => (event.key === "Enter" ? open(found[0]) : undefined)}
        />
      </div>
      <ul className="min-h-0 flex-1 overflow-auto p-1" aria-label={`${found.length} tools`}>
        {found.map((tool) => (
          <ToolItem key={tool.name} tool={tool} chosen={tool.name === name} open={() => open(tool)} />
        ))}
        {found.length === 0 ? <li className="p-3 text-soft">No tool has these words in it.</li> : null}
      </ul>
    </aside>
  )
}

function ToolItem({ tool, chosen, open }: { tool: ToolInfo; chosen: boolean; open: () => void }) {
  return (
    <li>
      <button
        type="button"
        aria-current={chosen}
        className="w-full rounded-md px-2 py-1.5 text-left hover:bg-raised aria-[current=true]:bg-mark"
        onClick={open}
      >
        <span className="flex items-center gap-1.5">
          <span className="min-w-0 flex-1 truncate font-mono text-[12.5px] font-medium">{visible(tool.name)}</span>
          <EffectBadges tool={tool} short />
        </span>
        <span className="block truncate text-[12px] text-soft">{visible(tool.description)}</span>
      </button>
    </li>
  )
}
