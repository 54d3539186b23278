import { type RefObject, useEffect, useEffectEvent, useId, useRef, useState } from "react"
import { roving } from "./roving.ts"

export interface MenuProps {
  title: string
  items: readonly (readonly [label: string, chosen: () => void])[]
}

const move = roving("menuitem", ["ArrowUp", "ArrowDown"])

/** While something is open, the focus goes into it, and a click or the focus elsewhere closes it. */
function useLeaving(open: boolean, whole: RefObject<HTMLElement | null>, leave: () => void): void {
  const left = useEffectEvent(leave)
  useEffect(() => {
    if (!open) return
    whole.current!.querySelector<HTMLElement>('[role="menuitem"]')?.focus()
    const elsewhere = (event: Event): void => {
      if (!whole.current!.contains(event.target as Node)) left()
    }
    for (const name of ["pointerdown", "focusin"]) document.addEventListener(name, elsewhere)
    return () => {
      for (const name of ["pointerdown", "focusin"]) document.removeEventListener(name, elsewhere)
    }
  }, [open, whole])
}

/** A button that opens a list of things to do. Escape, and a click or the focus elsewhere, close it. */
export function Menu({ title, items }: MenuProps) {
  const [open, setOpen] = useState(false)
  const whole = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  useLeaving(open, whole, () => setOpen(false))
  const close = (): void => {
    setOpen(false)
    button.current!.focus()
  }
  return (
    <div ref={whole} className="relative">
      <button
        ref={button}
        type="button"
        className="button"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return
          event.preventDefault()
          setOpen(true)
        }}
      >
        {title}
      </button>
      {open ? (
        <div
          role="menu"
          id={id}
          tabIndex={-1}
          aria-label={title}
          className="absolute top-full left-0 z-10 mt-1 flex w-max flex-col rounded-md border border-line bg-panel p-1 shadow-lg"
          onKeyDown={(event) => {
            if (event.key !== "Escape") return move(event)
            event.stopPropagation()
            close()
          }}
        >
          {items.map(([label, chosen]) => (
            <Item
              key={label}
              label={label}
              choose={() => {
                close()
                chosen()
              }}
            />
          ))}
        </div>
      ) : null}
    </div>
  )
}

function Item({ label, choose }: { label: string; choose: () => void }) {
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className="cursor-pointer rounded px-3 py-1 text-left text-[13px] outline-none hover:bg-mark focus:bg-mark"
      onClick={choose}
    >
      {label}
    </button>
  )
}
