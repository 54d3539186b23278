import { defaultKeymap, history, historyKeymap } from "@codemirror/commands"
import { json } from "@codemirror/lang-json"
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language"
import { EditorState } from "@codemirror/state"
import { EditorView, keymap, lineNumbers, highlightSpecialChars } from "@codemirror/view"
import { tags } from "@lezer/highlight"
import { useEffect, useEffectEvent, useRef } from "react"
import type { EditorProps } from "./editor-props.ts"

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ""

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--ink)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
])

const look = EditorView.theme({
  "&": {
    fontSize: "12.5px",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    backgroundColor: "var(--ground)",
    color: "var(--ink)",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-content": { fontFamily: "var(--font-mono, monospace)", minHeight: "9rem", caretColor: "var(--ink)" },
  ".cm-scroller": { maxHeight: "60vh", overflow: "auto" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--soft)", border: "none" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--mark) !important" },
  ".cm-specialChar": { color: "var(--bad)" },
})

export default function CodeMirror({ label, value, change, writing = false }: EditorProps) {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const writingAtStart = useRef(writing)
  const changed = useEffectEvent((text: string) => {
    if (text !== value) change(text)
  })
  const start = useEffectEvent(
    () =>
      new EditorView({
        parent: place.current!,
        state: EditorState.create({
          doc: value,
          extensions: [
            EditorView.cspNonce.of(nonce),
            EditorView.contentAttributes.of({ "aria-label": label, "aria-multiline": "true" }),
            EditorView.lineWrapping,
            lineNumbers(),
            history(),
            highlightSpecialChars(),
            bracketMatching(),
            json(),
            syntaxHighlighting(colours),
            look,
            keymap.of([...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"), ...historyKeymap]),
            EditorView.updateListener.of((update) => {
              if (update.docChanged) changed(update.state.doc.toString())
            }),
          ],
        }),
      }),
  )
  useEffect(() => {
    const editor = (view.current = start())
    if (writingAtStart.current) {
      editor.dispatch({ selection: { anchor: editor.state.doc.length } })
      editor.focus()
    }
    return () => editor.destroy()
  }, [])
  useEffect(() => {
    const editor = view.current
    if (editor === undefined || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])
  return <div ref={place} />
}
