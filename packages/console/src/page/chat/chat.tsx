import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useEffect, useRef, useState, type KeyboardEvent } from "react"
import { ApiError, get, post } from "../lib/api.ts"
import { ago, visible } from "../lib/text.ts"
import { HowToModel, useNoModel } from "../ui/model.tsx"
import { Empty, Loading, Problem } from "../ui/states.tsx"
import { ask, conversation, remove, saidIn, type Conversation, type ConversationHead, type Said } from "./data.ts"
import { Message } from "./message.tsx"

/** Conversations with the assistant, which has the tools of this server. */
export function Chat() {
  const { conversation: id } = useParams({ strict: false }) as { conversation?: string }
  const noModel = useNoModel()
  const heads = useQuery({
    queryKey: ["conversations"],
    // Where there is nobody to talk to the server has no such page.
    enabled: noModel === false,
    queryFn: ({ signal }) => get<ConversationHead[]>("conversations?limit=200", signal),
    retry: false,
  })
  if (noModel === true) return <Nobody />
  if (heads.isPending) return <Loading heading="Chat" what="Asking for the conversations" />
  if (heads.data === undefined) return <NoChat error={heads.error} retry={() => void heads.refetch()} />
  return (
    <div className="flex h-full">
      <h1 className="sr-only">Chat</h1>
      <Conversations heads={heads.data} chosen={id} />
      <Talk key={id ?? ""} id={id} />
    </div>
  )
}

function Nobody() {
  return (
    <Empty heading title="No model is configured, so there is nobody to talk to">
      <HowToModel /> Under Connections it can be examined.
    </Empty>
  )
}

function NoChat({ error, retry }: { error: unknown; retry: () => void }) {
  if (error instanceof ApiError && error.code === "NOT_INITIALIZED") return <Nobody />
  return <Problem title="The conversations cannot be shown" error={error} retry={retry} />
}

function Conversations({ heads, chosen }: { heads: ConversationHead[]; chosen: string | undefined }) {
  const navigate = useNavigate()
  const open = (id: string | undefined): void =>
    void (id === undefined
      ? navigate({ to: "/chat", search: {} })
      : navigate({ to: "/chat/$conversation", params: { conversation: id }, search: {} }))
  return (
    <aside
      aria-label="Conversations"
      className={
        "flex w-60 flex-none flex-col border-r border-line bg-panel max-md:w-full max-md:border-r-0 " +
        `${chosen === undefined ? "max-md:hidden" : "max-md:hidden"}`
      }
    >
      <div className="flex-none border-b border-line p-2">
        <button type="button" className="button w-full justify-center" onClick={() => open(undefined)}>
          New conversation
        </button>
      </div>
      <ul className="min-h-0 flex-1 overflow-auto p-1">
        {heads.map(({ id, title, updated_at: updated }) => (
          <li key={id}>
            <button
              type="button"
              aria-current={id === chosen}
              className="w-full rounded-md px-2 py-1.5 text-left hover:bg-raised aria-[current=true]:bg-mark"
              onClick={() => open(id)}
            >
              <span className="block truncate font-medium">{visible(title) || "Without a title"}</span>
              <span className="block text-[12px] text-soft">{ago(Date.parse(updated))}</span>
            </button>
          </li>
        ))}
        {heads.length === 0 ? <li className="p-2 text-soft">None yet.</li> : null}
      </ul>
    </aside>
  )
}

/** What is under way in a conversation, beside what is kept of it. */
function useTalk(id: string | undefined) {
  const [fresh, setFresh] = useState<{ question: Said; answer: Said; live: boolean; over?: number }>()
  const [problem, setProblem] = useState<unknown>()
  const running = useRef<AbortController>(undefined)
  const queries = useQueryClient()
  const navigate = useNavigate()
  useEffect(() => () => running.current?.abort(), [])
  const put = async (message: string, before: number): Promise<void> => {
    const stop = (running.current = new AbortController())
    const question: Said = { by: "person", parts: [{ kind: "text", text: message }] }
    let answer: Said = { by: "model", parts: [] }
    setProblem(undefined)
    setFresh({ question, answer, live: true })
    try {
      const of = id ?? (await post<Conversation>("conversations", { title: message.slice(0, 80) })).id
      if (id === undefined) sessionStorage.setItem(FIRST, JSON.stringify({ id: of, message }))
      if (id === undefined)
        return void (await navigate({ to: "/chat/$conversation", params: { conversation: of }, search: {} }))
      await ask(of, message, {
        signal: stop.signal,
        changed(next) {
          answer = next
          setFresh({ question, answer, live: true })
        },
      })
    } catch (thrown) {
      if (stop.signal.aborted) answer = { ...answer, problem: { code: "stopped", message: "You stopped it." } }
      else setProblem(thrown)
    }
    setFresh({ question, answer, live: false, over: before })
    await queries.invalidateQueries({ queryKey: ["conversations"] })
  }
  return { fresh, problem, put, stop: () => running.current?.abort() }
}

/** The first message of a conversation, which is put once the conversation is there. */
const FIRST = "toolwright-first-message"

function firstOf(id: string): string | undefined {
  const kept = JSON.parse(sessionStorage.getItem(FIRST) ?? "{}") as { id?: string; message?: string }
  if (kept.id !== id) return undefined
  sessionStorage.removeItem(FIRST)
  return kept.message
}

function Talk({ id }: { id: string | undefined }) {
  const kept = useQuery({
    queryKey: ["conversation", id],
    enabled: id !== undefined,
    queryFn: ({ signal }) => conversation(id!, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [asked, setAsked] = useState<{ question: Said; answer: Said }[]>([])
  const { fresh, problem, put, stop } = useTalk(id)
  const before = saidIn(kept.data?.messages ?? [])
  const live = fresh?.live === true
  const send = (message: string): void => {
    if (fresh !== undefined) setAsked([...asked, fresh])
    void put(message, before.length)
  }
  const first = useRef(false)
  useEffect(() => {
    if (id === undefined || kept.data === undefined || first.current) return
    first.current = true
    const message = firstOf(id)
    if (message !== undefined) void put(message, 0)
    // The first message is put once, when the conversation has come.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [id, kept.data])
  const said = [...before, ...asked.flatMap(({ question, answer }) => [question, answer])]
  return (
    <section aria-label="Conversation" className="flex min-w-0 flex-1 flex-col">
      <Head id={id} title={kept.data?.title} />
      {kept.isError ? <Problem title="This conversation cannot be shown" error={kept.error} /> : null}
      <Messages said={said} fresh={fresh} />
      {problem === undefined ? null : <Problem title="It was not answered" error={problem} />}
      <Write send={send} live={live} stop={stop} />
    </section>
  )
}

function Head({ id, title }: { id: string | undefined; title: string | undefined }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  if (id === undefined) return null
  const gone = async (): Promise<void> => {
    await remove(id)
    await queries.invalidateQueries({ queryKey: ["conversations"] })
    await navigate({ to: "/chat", search: {} })
  }
  return (
    <header className="flex flex-none items-center gap-2 border-b border-line bg-panel px-3 py-1.5">
      <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">{visible(title ?? "")}</h2>
      <button type="button" className="button" onClick={() => void gone()}>
        Delete
      </button>
    </header>
  )
}

function Messages({
  said,
  fresh,
}: {
  said: Said[]
  fresh: { question: Said; answer: Said; live: boolean } | undefined
}) {
  const end = useRef<HTMLLIElement>(null)
  const size = fresh?.answer.parts.length ?? 0
  useEffect(() => {
    // Newer browsers answer it with a promise, which is no clean-up.
    void end.current?.scrollIntoView({ block: "end" })
  }, [said.length, size, fresh?.answer])
  if (said.length === 0 && fresh === undefined)
    return (
      <div className="min-h-0 flex-1 overflow-auto">
        <Empty title="Ask something">
          The assistant reads and changes this folder with the same tools as everybody else. What it does stands among
          the runs.
        </Empty>
      </div>
    )
  return (
    <div className="min-h-0 flex-1 overflow-auto" tabIndex={0} role="region" aria-label="Messages">
      <ul className="mx-auto flex max-w-3xl flex-col gap-4 p-4" aria-live="polite" aria-busy={fresh?.live === true}>
        {said.map((each, index) => (
          <Message key={index} said={each} />
        ))}
        {fresh === undefined ? null : (
          <>
            <Message said={fresh.question} />
            <Message said={fresh.answer} live={fresh.live} />
          </>
        )}
        <li ref={end} aria-hidden />
      </ul>
    </div>
  )
}

function Write({ send, live, stop }: { send: (message: string) => void; live: boolean; stop: () => void }) {
  const [text, setText] = useState("")
  const put = (): void => {
    if (text.trim() === "" || live) return
    send(text)
    setText("")
  }
  const press = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    put()
  }
  return (
    <form
      className="flex flex-none items-end gap-2 border-t border-line bg-panel p-3"
      onSubmit={(event) => {
        event.preventDefault()
        put()
      }}
    >
      <textarea
        className="field min-h-9 flex-1"
        rows={Math.min(8, text.split("\n").length)}
        aria-label="Message"
        placeholder="Message (Enter sends)"
        title="Enter sends, Shift+Enter is a new line"
        value={text}
        onKeyDown={press}
        onChange={(event) => setText(event.target.value)}
      />
      {live ? (
        <button type="button" className="button" onClick={stop}>
          Stop
        </button>
      ) : (
        <button type="submit" className="button button-main" disabled={text.trim() === ""}>
          Send
        </button>
      )}
    </form>
  )
}
