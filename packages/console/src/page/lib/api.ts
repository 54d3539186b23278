import { learnOwnName } from "./who.ts"

/** What the server answered instead of what was asked for. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly hint: string | undefined

  constructor(status: number, body: { detail?: string; error?: { code?: string; message?: string; hint?: string } }) {
    super(body.detail ?? body.error?.message ?? `The server answered ${status}.`)
    this.status = status
    this.code = body.error?.code ?? String(status)
    this.hint = body.error?.hint
  }
}

const KEY = "toolwright-token"
const listeners = new Set<() => void>()
let token = stored()
void learnOwnName(token)

function stored(): string {
  try {
    return sessionStorage.getItem(KEY) ?? ""
  } catch {
    return ""
  }
}

/** The token lives in this tab alone: in memory, and in what the tab forgets when it is closed. */
export function setToken(value: string): void {
  token = value
  void learnOwnName(value)
  try {
    if (value === "") sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, value)
  } catch {
    // A browser that keeps nothing asks again after a reload.
  }
  for (const listener of listeners) listener()
}

export function onToken(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Changes a code of `toolwright ui`, which opens the page once, for the token that it stands for. */
export async function useOneTimeCode(): Promise<void> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1]
  if (code === undefined) return
  history.replaceState(null, "", location.pathname)
  const response = await fetch("session", { method: "POST", headers: JSON_BODY, body: JSON.stringify({ code }) })
  if (response.ok) setToken(((await response.json()) as { token: string }).token)
}

const refusals = new Set<() => void>()

/** Is told when the server knows the token no more: it was taken back, or the server started anew with another. */
export function onTokenRefused(listener: () => void): () => void {
  refusals.add(listener)
  return () => void refusals.delete(listener)
}

let away = false
const reaches = new Set<() => void>()

/** Is told when the server does not answer any more, and when it does again. */
export function onReach(listener: () => void): () => void {
  reaches.add(listener)
  return () => void reaches.delete(listener)
}

export const isAway = (): boolean => away

async function reached(answer: Promise<Response>): Promise<Response> {
  const now = await answer.then(
    () => false,
    // Who broke it off says nothing of the server.
    (thrown: unknown) => (thrown instanceof TypeError ? true : away),
  )
  if (now !== away) {
    away = now
    for (const listener of reaches) listener()
  }
  return answer
}

const JSON_BODY = { "content-type": "application/json" }

export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  if (token !== "") headers.set("authorization", `Bearer ${token}`)
  const response = await reached(fetch(path, { ...init, headers }))
  if (response.ok) return response
  if (response.status === 401) for (const listener of refusals) listener()
  throw new ApiError(response.status, (await response.json().catch(() => ({}))) as object)
}

export async function get<Value>(path: string, signal?: AbortSignal): Promise<Value> {
  return (await request(path, signal === undefined ? {} : { signal })).json() as Promise<Value>
}

/** Sends a text as it is: what somebody has written is not written anew. */
export async function postText<Value>(path: string, text: string, signal?: AbortSignal): Promise<Value> {
  const init = { method: "POST", headers: JSON_BODY, body: text }
  return (await request(path, signal === undefined ? init : { ...init, signal })).json() as Promise<Value>
}

export function post<Value>(path: string, value: unknown, signal?: AbortSignal): Promise<Value> {
  return postText(path, JSON.stringify(value), signal)
}

/** An event of a stream. */
export interface StreamEvent {
  id?: string
  event: string
  data: string
}

/** Reads an event stream; unlike `EventSource` it sends the token in a header. */
export async function* stream(path: string, init: RequestInit = {}): AsyncGenerator<StreamEvent> {
  const headers = new Headers(init.headers)
  headers.set("accept", "text/event-stream")
  const { body } = await request(path, { ...init, headers })
  if (body === null) return
  let rest = ""
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    rest += piece
    const blocks = rest.split("\n\n")
    rest = blocks.pop()!
    for (const block of blocks) {
      const event = eventOf(block)
      if (event !== undefined) yield event
    }
  }
}

function eventOf(block: string): StreamEvent | undefined {
  const event: StreamEvent = { event: "message", data: "" }
  const data: string[] = []
  for (const line of block.split("\n")) {
    const [, name = "", value = ""] = /^(\w+): ?(.*)$/s.exec(line) ?? []
    if (name === "data") data.push(value)
    else if (name === "event") event.event = value
    else if (name === "id") event.id = value
  }
  if (data.length === 0) return undefined
  return { ...event, data: data.join("\n") }
}
