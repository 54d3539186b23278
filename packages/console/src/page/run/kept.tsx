import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { post, request } from "../lib/api.ts"
import { count, visible } from "../lib/text.ts"
import type { RunDetail } from "../runs/data.ts"

/** Gives a run as a file, which opens without a server and can be taken in elsewhere. */
export function SaveAsFile({ run }: { run: string }) {
  const saved = useMutation({
    mutationFn: async () => {
      const answer = await request(`runs/${encodeURIComponent(run)}/export?as=html`)
      const url = URL.createObjectURL(await answer.blob())
      const link = document.createElement("a")
      link.href = url
      link.download = `${run}.html`
      link.click()
      setTimeout(() => URL.revokeObjectURL(url), 60_000)
    },
  })
  return (
    <>
      <button
        type="button"
        className="button"
        title="A page with the run in it: it opens without a server"
        disabled={saved.isPending}
        onClick={() => saved.mutate()}
      >
        Save as file
      </button>
      <Refused error={saved.error} />
    </>
  )
}

interface TakenBack {
  restored: string[]
  refused: { path: string; reason: string }[]
}

/** What the run changed can be taken back: asked once more, and what stays is named. */
export function Changed({ run }: { run: RunDetail }) {
  const [sure, setSure] = useState(false)
  const queries = useQueryClient()
  const taken = useMutation({
    mutationFn: () => post<TakenBack>(`runs/${encodeURIComponent(run.id)}/undo`, {}),
    onSettled: async () => {
      setSure(false)
      await queries.invalidateQueries({ queryKey: ["run"] })
    },
  })
  const { changed = 0 } = run
  if (changed === 0 || run.surface === "import" || run.ended === undefined) return null
  if (taken.data !== undefined)
    return (
      <span role="status" className="text-[12.5px]">
        {count(taken.data.restored.length, "file")} taken back
        {taken.data.refused.map(({ path, reason }) => (
          <span key={path} className="block text-warn">
            {visible(`${path} stays: ${reason}`)}
          </span>
        ))}
      </span>
    )
  return sure ? (
    <span className="flex items-center gap-1.5 text-[12.5px]" role="group" aria-label="Take the changes back">
      Take {count(changed, "changed file")} back?
      <button type="button" className="button" autoFocus disabled={taken.isPending} onClick={() => taken.mutate()}>
        Take back
      </button>
      <button type="button" className="button" onClick={() => setSure(false)}>
        Leave
      </button>
    </span>
  ) : (
    <>
      <button type="button" className="button" onClick={() => setSure(true)}>
        Undo…
      </button>
      <Refused error={taken.error} />
    </>
  )
}

function Refused({ error }: { error: Error | null }) {
  if (error === null) return null
  return (
    <span role="alert" className="text-[12.5px] text-bad">
      {visible(error.message)}
    </span>
  )
}
