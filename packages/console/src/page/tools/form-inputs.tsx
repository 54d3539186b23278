import { useId, useState, type ReactNode } from "react"
import { at, parse, pretty, withPart, type Schema } from "../lib/json.ts"
import { takesNull, type Field } from "../lib/schema.ts"
import { visible } from "../lib/text.ts"
import { pointer, type PartProps } from "./form-parts.ts"

export function Name({ name, schema, required, id }: { name: string; schema: Schema; required: boolean; id?: string }) {
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : schema.type
  const text = (
    <>
      <span className="font-mono text-[12.5px] font-medium">{visible(name)}</span>
      {required ? <span className="text-[11px] text-soft">needed</span> : null}
      <span className="text-[11px] text-soft">{visible([type, schema.format].filter(Boolean).join(", "))}</span>
    </>
  )
  return (
    <>
      {id === undefined ? (
        <span className="flex flex-wrap items-baseline gap-1.5">{text}</span>
      ) : (
        <label htmlFor={id} className="flex flex-wrap items-baseline gap-1.5">
          {text}
        </label>
      )}
      {typeof schema.description === "string" ? (
        <span className="mb-1 block text-[12px] whitespace-pre-wrap text-soft">{visible(schema.description)}</span>
      ) : null}
    </>
  )
}

interface LeafProps extends PartProps {
  field: Field
  label: string
  required?: boolean
}

/** A value that has a field of its own. */
export function Leaf({ form, schema, path, field, label, required = false }: LeafProps): ReactNode {
  const id = useId()
  const value = at(form.value, path)
  const props = {
    id,
    schema,
    value,
    invalid: form.problems.has(pointer(path)),
    change: (part: unknown) => form.change(withPart(form.value, path, part)),
  }
  return (
    <>
      <Name name={label} schema={schema} required={required} id={id} />
      {field.kind === "choice" ? (
        <Choice {...props} values={field.values} />
      ) : field.kind === "boolean" ? (
        <Choice {...props} values={[true, false]} />
      ) : field.kind === "number" && (typeof value === "number" || value === undefined) ? (
        <NumberInput {...props} />
      ) : field.kind === "string" && (typeof value === "string" || value === undefined) ? (
        <TextInput {...props} long={field.long} />
      ) : (
        <JsonInput {...props} />
      )}
    </>
  )
}

interface InputProps {
  id: string
  schema: Schema
  value: unknown
  invalid: boolean
  change: (value: unknown) => void
}

function Choice({ id, schema, value, values, invalid, change }: InputProps & { values: unknown[] }) {
  const all = takesNull(schema) && !values.includes(null) ? [...values, null] : values
  const texts = all.map((each) => JSON.stringify(each))
  const current = value === undefined ? "" : JSON.stringify(value)
  return (
    <select
      id={id}
      className="field max-w-md"
      aria-invalid={invalid}
      value={current}
      onChange={(event) => change(event.target.value === "" ? undefined : JSON.parse(event.target.value))}
    >
      <option value="">(left out)</option>
      {texts.includes(current) || current === "" ? null : <option value={current}>{visible(current)}</option>}
      {texts.map((text, index) => (
        <option key={text} value={text}>
          {visible(typeof all[index] === "string" ? all[index] : text)}
        </option>
      ))}
    </select>
  )
}

/** A number is written as text: what is no number yet, such as `-` or `1e`, is kept until it is one. */
function NumberInput({ id, schema, value, invalid, change }: InputProps) {
  const [typed, setTyped] = useState<string>()
  const text = typed ?? (value === undefined ? "" : String(value))
  const write = (next: string): void => {
    const number = Number(next)
    const whole = next.trim() !== "" && Number.isFinite(number)
    setTyped(whole && String(number) === next ? undefined : next)
    if (next.trim() === "") change(undefined)
    else if (whole) change(number)
  }
  return (
    <input
      id={id}
      className="field max-w-60"
      inputMode="decimal"
      autoComplete="off"
      aria-invalid={invalid || (text.trim() !== "" && !Number.isFinite(Number(text)))}
      placeholder={placeholder(schema)}
      value={text}
      onChange={(event) => write(event.target.value)}
    />
  )
}

function TextInput({ id, schema, value, invalid, change, long }: InputProps & { long: boolean }) {
  const text = typeof value === "string" ? value : ""
  const props = {
    id,
    className: "field font-mono",
    "aria-invalid": invalid,
    placeholder: placeholder(schema),
    value: text,
  }
  const rows = Math.min(12, text.split("\n").length)
  return long ? (
    <textarea {...props} rows={rows} spellCheck={false} onChange={(event) => change(event.target.value)} />
  ) : (
    <input {...props} autoComplete="off" spellCheck={false} onChange={(event) => change(event.target.value)} />
  )
}

/** Whatever has no field of its own; what is no JSON yet stays where it is typed. */
function JsonInput({ id, value, invalid, change }: InputProps) {
  const [typed, setTyped] = useState<string>()
  const text = typed ?? (value === undefined ? "" : pretty(value))
  const parsed = text.trim() === "" ? { value: undefined } : parse(text)
  const write = (next: string): void => {
    setTyped(next)
    const read = next.trim() === "" ? { value: undefined } : parse(next)
    if ("value" in read) change(read.value)
  }
  return (
    <>
      <textarea
        id={id}
        className="field font-mono"
        rows={Math.min(16, Math.max(2, text.split("\n").length))}
        spellCheck={false}
        aria-invalid={invalid || "problem" in parsed}
        placeholder="JSON"
        value={text}
        onChange={(event) => write(event.target.value)}
      />
      {"problem" in parsed ? (
        <span className="text-[12px] text-bad">No JSON yet: {visible(parsed.problem)}</span>
      ) : null}
    </>
  )
}

function placeholder({ default: given, examples }: Schema): string {
  const sample = given ?? (Array.isArray(examples) ? examples[0] : undefined)
  return sample === undefined ? "" : typeof sample === "string" ? sample : JSON.stringify(sample)
}
