import { lazy, Suspense, useRef } from "react"
import type { EditorProps } from "./editor-props.ts"

const Editor = lazy(() => import("./code-mirror.tsx"))

/** JSON as text. What is typed or pasted is never laid out anew or changed. */
export function JsonEditor(props: EditorProps) {
  const focused = useRef(false)
  const hear = (is: boolean): void => void (focused.current = is)
  return (
    <Suspense fallback={<PlainEditor {...props} hear={hear} />}>
      <LoadedEditor {...props} focused={focused} />
    </Suspense>
  )
}

/** Takes over from the plain one, also the place where somebody writes. */
function LoadedEditor({ focused, ...props }: EditorProps & { focused: { current: boolean } }) {
  return <Editor {...props} writing={focused.current} />
}

function PlainEditor({ label, value, change, hear }: EditorProps & { hear: (is: boolean) => void }) {
  return (
    <textarea
      className="field min-h-40 font-mono"
      aria-label={label}
      spellCheck={false}
      value={value}
      onFocus={() => hear(true)}
      onBlur={() => hear(false)}
      onChange={(event) => change(event.target.value)}
    />
  )
}
