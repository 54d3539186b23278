import { type ReactNode, useId, useLayoutEffect, useRef } from "react"

/** A window over the page, closed by Escape, by a click beside it, or by its button. The rest of the page waits. */
export function Window({ title, close, children }: { title: string; close: () => void; children: ReactNode }) {
  const own = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useLayoutEffect(() => {
    const shown = own.current!
    shown.showModal()
    // By itself it would take what can be scrolled.
    shown.querySelector<HTMLElement>("input, button")?.focus()
    // Closing it gives the focus back to where it was.
    return () => shown.close()
  }, [])
  return (
    <dialog
      ref={own}
      aria-labelledby={heading}
      className="fixed top-[12vh] bottom-auto left-1/2 m-0 flex max-h-[76vh] w-[min(36rem,94vw)] -translate-x-1/2 flex-col rounded-lg border border-line bg-panel p-0 text-ink shadow-xl outline-none backdrop:bg-black/40"
      onCancel={(event) => {
        event.preventDefault()
        if (event.target === event.currentTarget) close()
      }}
      onClick={(event) => {
        // What covers the page belongs to the window's own element, and its content does not.
        if (event.target === event.currentTarget) close()
      }}
    >
      <h2 id={heading} className="border-b border-line px-3 py-2 text-sm font-semibold">
        {title}
      </h2>
      <div className="min-h-0 overflow-auto p-3">{children}</div>
      <button type="button" className="button absolute top-1.5 right-2" aria-label="Close" onClick={close}>
        ✕
      </button>
    </dialog>
  )
}
