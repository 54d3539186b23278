import { useQuery } from "@tanstack/react-query"
import { useState, type ReactNode } from "react"
import { isObject, parse, pretty } from "../lib/json.ts"
import { bytes } from "../lib/text.ts"
import { Body } from "../ui/body.tsx"
import { Loading, Problem } from "../ui/states.tsx"
import type { EventBody } from "../runs/data.ts"
import { useBodies } from "./source.ts"

export type Fields = Record<string, unknown>

/** The body of an event, read when it is first looked at. */
export function useBody(seq: number | undefined) {
  const bodies = useBodies()
  return useQuery({
    queryKey: ["body", bodies.run, seq],
    enabled: seq !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const answer = await bodies.body(seq!)
      const parsed = answer.size === answer.text.length ? parse(answer.text) : { problem: "" }
      return { answer, fields: "value" in parsed && isObject(parsed.value) ? parsed.value : undefined }
    },
  })
}

/** Something that is looked at on demand: nothing of it is made, or asked for, before. */
export function Folded({ title, open = false, children }: { title: ReactNode; open?: boolean; children: ReactNode }) {
  const [wasOpen, setWasOpen] = useState(open)
  return (
    <details open={open} onToggle={(event) => event.currentTarget.open && setWasOpen(true)}>
      <summary className="cursor-pointer text-[13px] text-soft">{title}</summary>
      {wasOpen ? <div className="mt-1">{children}</div> : null}
    </details>
  )
}

export function Heading({ children }: { children: ReactNode }) {
  return <h3 className="mb-1 text-[12px] font-semibold text-soft uppercase">{children}</h3>
}

/** An event as it stands in the log. */
export function RawBody({ body, fields }: { body: EventBody; fields: Fields | undefined }) {
  if (body.erased === true)
    return <p className="text-soft">It was erased. That it was there, the chain of hashes still proves.</p>
  return <Body text={fields === undefined ? body.text : pretty(fields)} label="The event" />
}

/** A text that an event names by its hash. */
export function Kept({
  seq,
  hash,
  label,
  as,
}: {
  seq: number
  hash: string
  label: string
  as?: (text: string) => string
}) {
  const bodies = useBodies()
  const { data, error } = useQuery({
    queryKey: ["kept", bodies.run, seq, hash],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => bodies.kept(seq, hash),
  })
  if (error !== null) return <Problem title="It cannot be shown" error={error} />
  if (data === undefined) return <Loading />
  if (data.erased === true) return <p className="text-soft">It was erased.</p>
  const whole = data.text.length === data.size
  return (
    <>
      <Body text={whole && as !== undefined ? as(data.text) : data.text} label={label} />
      {whole ? null : (
        <p className="text-soft">
          The first {bytes(data.text.length)} of {bytes(data.size)}.
        </p>
      )}
    </>
  )
}

/** JSON as people read it; what is none stays as it is. */
export function readable(text: string): string {
  const parsed = parse(text)
  return "value" in parsed ? pretty(parsed.value) : text
}
