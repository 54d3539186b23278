import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useRef } from "react"
import { runInPage } from "../../in-page.ts"
import { postText } from "../lib/api.ts"
import { parse } from "../lib/json.ts"
import { visible } from "../lib/text.ts"

/** Takes a run out of a file that somebody has sent, and shows it. */
export function TakeIn() {
  const input = useRef<HTMLInputElement>(null)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const taken = useMutation({
    mutationFn: async (file: File) => postText<{ id: string }>("runs/import", exportIn(await file.text())),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ["runs"] })
      await navigate({ to: "/runs/$run", params: { run: id }, search: {} })
    },
  })
  return (
    <>
      <button
        type="button"
        className="button ml-auto"
        disabled={taken.isPending}
        onClick={() => input.current?.click()}
        title="A file that another console has saved, or toolwright runs export has written"
      >
        {taken.isPending ? "Taking it in…" : "Open a file…"}
      </button>
      <input
        ref={input}
        type="file"
        accept=".html,.json,text/html,application/json"
        className="hidden"
        aria-label="A run as a file"
        onChange={(event) => {
          const file = event.target.files?.[0]
          if (file !== undefined) taken.mutate(file)
          // The same file may be chosen again.
          event.target.value = ""
        }}
      />
      {taken.error === null ? null : (
        <p role="alert" className="m-0 w-full text-bad">
          {visible(taken.error.message)}
        </p>
      )}
    </>
  )
}

/** The run in a file, as JSON: the file is that, or a page that has it. */
function exportIn(text: string): string {
  if (text.trimStart().startsWith("{") && "value" in parse(text)) return text
  const run = runInPage(text)
  if (run === undefined) throw new Error("There is no run in this file: choose one that was saved from a run.")
  return JSON.stringify(run)
}
