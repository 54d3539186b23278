import { lazy, Suspense } from "react"

const Editor = lazy(() => import("./code-mirror.tsx"))

export interface EditorProps {
  label: string
  value: string
  change: (text: string) => void
}

/** JSON as text. What is typed or pasted is never laid out anew or changed. */
export function JsonEditor(props: EditorProps) {
  return (
    <Suspense fallback={<PlainEditor {...props} />}>
      <Editor {...props} />
    </Suspense>
  )
}

function PlainEditor({ label, value, change }: EditorProps) {
  return (
    <textarea
      className="field min-h-40 font-mono"
      aria-label={label}
      spellCheck={false}
      value={value}
      onChange={(event) => change(event.target.value)}
    />
  )
}
