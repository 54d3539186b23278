import { useState, type FormEvent, type ReactNode } from "react"
import { ApiError, setToken } from "../lib/api.ts"
import { useTools } from "../tools/data.ts"

/** Asks for a token where the server wants one; what is under it stays as it was, so that nothing typed is lost. */
export function TokenGate({ children }: { children: ReactNode }) {
  const { error, data } = useTools()
  const [asked, setAsked] = useState(false)
  // While it is asked again there is neither answer nor error, and the question stays.
  const now = error instanceof ApiError && error.status === 401 ? true : data !== undefined ? false : asked
  if (now !== asked) setAsked(now)
  return (
    <>
      {asked ? <TokenForm /> : null}
      <div className={asked ? "hidden" : "h-full"}>{children}</div>
    </>
  )
}

function TokenForm() {
  const [value, setValue] = useState("")
  const [tried, setTried] = useState(false)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setTried(true)
    setToken(value.trim())
  }
  return (
    <form
      onSubmit={submit}
      className="mx-auto mt-[12vh] flex w-[min(26rem,92vw)] flex-col gap-3 rounded-lg border border-line bg-panel p-5"
    >
      <h1 className="text-base font-semibold">This server asks for a token</h1>
      <label className="flex flex-col gap-1">
        Token
        <input
          className="field"
          type="password"
          autoComplete="off"
          autoFocus
          value={value}
          aria-invalid={tried}
          onChange={(event) => setValue(event.target.value)}
        />
      </label>
      {tried ? (
        <p role="alert" className="text-bad">
          The server does not know this token. It may have been started anew with another one.
        </p>
      ) : null}
      <p className="text-soft">
        It is what the server was started with: <code>--token</code>, or the variable <code>TOOLWRIGHT_TOKEN</code>. It
        stays in this tab and is forgotten when the tab is closed.
      </p>
      <button type="submit" className="button button-main self-start" disabled={value.trim() === ""}>
        Open
      </button>
    </form>
  )
}
