import { Menu } from "@base-ui/react/menu"
import { useState } from "react"
import { COPIES } from "../lib/copy-as.ts"

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
      <Menu.Root>
        <Menu.Trigger className="button">Copy as…</Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} align="start">
            <Menu.Popup className="rounded-md border border-line bg-panel p-1 shadow-lg outline-none">
              {COPIES.map(([label, text]) => (
                <Menu.Item
                  key={label}
                  className="cursor-pointer rounded px-3 py-1 text-[13px] outline-none data-[highlighted]:bg-mark"
                  onClick={() => copy(label, text(name, args))}
                >
                  {label}
                </Menu.Item>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <span role="status" className="text-[12px] text-soft">
        {copied}
      </span>
    </>
  )
}
