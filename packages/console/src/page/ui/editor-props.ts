export interface EditorProps {
  label: string
  value: string
  change: (text: string) => void
  /** Whether somebody was writing already when it came. */
  writing?: boolean
}
