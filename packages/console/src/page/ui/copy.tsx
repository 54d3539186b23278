import { useState } from "react"
import { COPIES } from "../lib/copy-as.ts"
import { Menu } from "./menu.tsx"

/** Copies a call for use elsewhere. */
export function CopyMenu({ name, args }: { name: string; args: string }) {
  const [copied, setCopied] = useState("")
  const copy = (label: string, text: string): void => {
    void navigator.clipboard.writeText(text).then(
      () => setCopied(`Copied as ${label}`),
      () => setCopied("The browser did not let it be copied"),
    )
  }
  return (
    <>
      <Menu
        title="Copy as…"
        items={COPIES.map(([label, text]) => [label, () => copy(label, text(name, args))] as const)}
      />
      <span role="status" className="text-[12px] text-soft">
        {copied}
      </span>
    </>
  )
}
