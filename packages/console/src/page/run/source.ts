import { createContext, useContext } from "react"
import { get } from "../lib/api.ts"
import type { EventBody, KeptText } from "../runs/data.ts"

/** Where the bodies of events come from: a server, or the file that the page is. */
export interface BodySource {
  /** The run whose bodies they are: what is kept of them is kept by it. */
  run: string
  body(seq: number): Promise<EventBody>
  /** A text that an event names by its hash. */
  kept(seq: number, hash: string): Promise<KeptText>
  /** What can be done from here beside reading; nothing where there is no server. */
  live: boolean
}

export function serverBodies(run: string): BodySource {
  const events = `runs/${encodeURIComponent(run)}/events`
  return {
    run,
    live: true,
    body: (seq) => get<EventBody>(`${events}/${seq}`),
    kept: (seq, hash) => get<KeptText>(`${events}/${seq}/kept/${encodeURIComponent(hash)}`),
  }
}

export const Bodies = createContext<BodySource>({
  run: "",
  live: false,
  body: () => Promise.reject(new Error("There is no run.")),
  kept: () => Promise.reject(new Error("There is no run.")),
})
export const useBodies = (): BodySource => useContext(Bodies)
