import { createContext, useContext } from "react"
import { get } from "../lib/api.ts"
import type { EventBody } from "../runs/data.ts"

/** Where the bodies of events come from: a server, or the file that the page is. */
export interface BodySource {
  body(seq: number): Promise<EventBody>
  /** What can be done from here beside reading; nothing where there is no server. */
  live: boolean
}

export function serverBodies(run: string): BodySource {
  return { live: true, body: (seq) => get<EventBody>(`runs/${encodeURIComponent(run)}/events/${seq}`) }
}

export const Bodies = createContext<BodySource>({
  live: false,
  body: () => Promise.reject(new Error("There is no run.")),
})
export const useBodies = (): BodySource => useContext(Bodies)
