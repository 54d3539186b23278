import { useEffect, useEffectEvent } from "react"

/** Keys as they are written: `j`, `?`, `mod+k` (⌘ or Ctrl). */
export type KeyMap = Readonly<Record<string, () => void>>

/** Does what a key stands for, unless somebody is typing. */
export function useKeys(keys: KeyMap): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const mod = event.metaKey || event.ctrlKey
    const name = mod ? `mod+${event.key.toLowerCase()}` : event.key
    const action = keys[name]
    if (action === undefined || event.altKey || event.defaultPrevented || (!mod && isTyping(event.target))) return
    event.preventDefault()
    action()
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => press(event)
    addEventListener("keydown", listen)
    return () => removeEventListener("keydown", listen)
  }, [])
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest("input, textarea, select, dialog") !== null)
  )
}
