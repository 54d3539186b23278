import { Dialog } from "@base-ui/react/dialog"
import type { ReactNode } from "react"

/** A window over the page, closed by Escape, by a click beside it, or by its button. */
export function Window({ title, close, children }: { title: string; close: () => void; children: ReactNode }) {
  return (
    <Dialog.Root open onOpenChange={(open) => (open ? undefined : close())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 bg-black/40" />
        <Dialog.Popup className="fixed top-[12vh] left-1/2 flex max-h-[76vh] w-[min(36rem,94vw)] -translate-x-1/2 flex-col rounded-lg border border-line bg-panel shadow-xl outline-none">
          <Dialog.Title className="border-b border-line px-3 py-2 text-sm font-semibold">{title}</Dialog.Title>
          <div className="min-h-0 overflow-auto p-3">{children}</div>
          <Dialog.Close className="button absolute top-1.5 right-2" aria-label="Close">
            ✕
          </Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
