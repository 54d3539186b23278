import { useId, useState, type ReactNode } from "react"
import { at, isObject, parse, pretty, withPart, type Schema } from "../lib/json.ts"
import { fieldOf, settle, startingValue, takesNull, type Field } from "../lib/schema.ts"
import { visible } from "../lib/text.ts"
import type { CheckAnswer } from "./data.ts"

type Path = readonly (string | number)[]

/** What all parts of one form share. */
interface Form {
  root: Schema
  value: unknown
  change: (value: unknown) => void
  problems: ReadonlyMap<string, string>
}

interface PartProps {
  form: Form
  schema: Schema
  path: Path
  depth: number
}

/** A form of a JSON Schema. What it cannot say in fields stands in it as JSON, so that every value can be written. */
export function SchemaForm({
  schema,
  value,
  change,
  check,
}: {
  schema: Schema
  value: unknown
  change: (value: unknown) => void
  check: CheckAnswer | undefined
}) {
  const problems = new Map((check?.error?.problems ?? []).map(({ path, message }) => [path, message]))
  const form: Form = { root: schema, value, change, problems }
  const settled = settle(schema, schema)
  if (Object.keys(settled.properties ?? {}).length === 0 && settled.additionalProperties === false)
    return <p className="text-soft">It takes no arguments.</p>
  return <Part form={form} schema={settled} path={[]} depth={0} />
}

function Part({ form, schema, path, depth }: PartProps) {
  const field = fieldOf(schema, depth)
  const props = { form, schema, path, depth }
  if (field.kind === "object") return <ObjectPart {...props} field={field} />
  if (field.kind === "list") return <ListPart {...props} field={field} />
  if (field.kind === "variants") return <VariantPart {...props} field={field} />
  return <Leaf {...props} field={field} label={path.length === 0 ? "Arguments" : String(path.at(-1))} />
}

function ObjectPart({ form, path, depth, field }: PartProps & { field: Extract<Field, { kind: "object" }> }) {
  const [all, setAll] = useState(field.properties.length <= 12)
  const value = at(form.value, path)
  const known = new Set(field.properties.map(([name]) => name))
  const others = isObject(value) ? Object.keys(value).filter((name) => !known.has(name)) : []
  const shown = field.properties.filter(([name, , required]) => all || required || (isObject(value) && name in value))
  return (
    <div className={depth === 0 ? "flex flex-col gap-3" : "flex flex-col gap-3 border-l-2 border-line pl-3"}>
      {shown.map(([name, property, required]) => (
        <Property
          key={name}
          form={form}
          schema={settle(property, form.root)}
          path={[...path, name]}
          depth={depth + 1}
          required={required}
        />
      ))}
      {shown.length < field.properties.length ? (
        <button type="button" className="button self-start" onClick={() => setAll(true)}>
          {field.properties.length - shown.length} more that may be left out
        </button>
      ) : null}
      {others.map((name) => (
        <Property key={name} form={form} schema={{}} path={[...path, name]} depth={depth + 1} required={false} />
      ))}
      {field.open ? (
        <AddProperty
          taken={[...known, ...others]}
          add={(name) => form.change(withPart(form.value, [...path, name], null))}
        />
      ) : null}
    </div>
  )
}

function AddProperty({ taken, add }: { taken: string[]; add: (name: string) => void }) {
  const [name, setName] = useState<string>()
  if (name === undefined)
    return (
      <button type="button" className="self-start text-[12px] text-soft underline" onClick={() => setName("")}>
        Another property
      </button>
    )
  const done = (): void => {
    if (name !== "" && !taken.includes(name)) add(name)
    setName(undefined)
  }
  return (
    <input
      className="field max-w-60"
      aria-label="Name of the property"
      autoFocus
      value={name}
      onChange={(event) => setName(event.target.value)}
      onBlur={done}
      onKeyDown={(event) => {
        if (event.key !== "Enter") return
        event.preventDefault()
        done()
      }}
    />
  )
}

/** A property with its name, what is said of it, and whether it is given at all. */
function Property({ form, schema, path, depth, required }: PartProps & { required: boolean }) {
  const name = String(path.at(-1))
  const given = at(form.value, path) !== undefined
  const problem = form.problems.get(pointer(path))
  const field = fieldOf(schema, depth)
  const simple = !["object", "list", "variants"].includes(field.kind)
  const remove = (): void => form.change(withPart(form.value, path, undefined))
  const add = (): void => form.change(withPart(form.value, path, startingValue(schema, form.root, depth)))
  return (
    <div role={simple ? undefined : "group"} aria-label={simple ? undefined : name}>
      {simple ? (
        <Leaf form={form} schema={schema} path={path} depth={depth} field={field} label={name} required={required} />
      ) : (
        <>
          <Name name={name} schema={schema} required={required} />
          {given ? <Part form={form} schema={schema} path={path} depth={depth} /> : null}
        </>
      )}
      {!given && !simple ? (
        <button type="button" className="button mt-1" onClick={add}>
          Give {visible(name)}
        </button>
      ) : null}
      {given && !required ? (
        <button
          type="button"
          className="mt-0.5 text-[12px] text-soft underline"
          onClick={remove}
          aria-label={`Leave out ${name}`}
        >
          leave out
        </button>
      ) : null}
      {problem === undefined ? null : <p className="text-[12px] text-bad">{visible(problem)}</p>}
    </div>
  )
}

/** A path as the server writes it: `edits[0].oldText`. */
export const pointer = (path: Path): string =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`))
    .join("")
    .replace(/^\./, "")

function Name({ name, schema, required, id }: { name: string; schema: Schema; required: boolean; id?: string }) {
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

function Leaf({ form, schema, path, field, label, required = false }: LeafProps): ReactNode {
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

function ListPart({ form, path, depth, field }: PartProps & { field: Extract<Field, { kind: "list" }> }) {
  const value = at(form.value, path)
  if (value !== undefined && !Array.isArray(value))
    return (
      <Leaf
        form={form}
        schema={{}}
        path={path}
        depth={depth}
        field={{ kind: "text" }}
        label={String(path.at(-1) ?? "Arguments")}
      />
    )
  const items = settle(field.items, form.root)
  const list = value ?? []
  const shown = list.slice(0, 100)
  const add = (): void =>
    form.change(withPart(form.value, [...path, list.length], startingValue(items, form.root, depth + 1)))
  return (
    <ol className="flex flex-col gap-2 border-l-2 border-line pl-3">
      {shown.map((_, index) => (
        <li key={index} className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <Part form={form} schema={items} path={[...path, index]} depth={depth + 1} />
          </div>
          <button
            type="button"
            className="button"
            aria-label={`Remove item ${index + 1}`}
            onClick={() => form.change(withPart(form.value, [...path, index], undefined))}
          >
            ✕
          </button>
        </li>
      ))}
      {list.length > shown.length ? (
        <li className="text-soft">{list.length - shown.length} more: write them as JSON.</li>
      ) : null}
      <li>
        <button type="button" className="button" onClick={add}>
          Add to {visible(String(path.at(-1) ?? "the list"))}
        </button>
      </li>
    </ol>
  )
}

function VariantPart({
  form,
  schema,
  path,
  depth,
  field,
}: PartProps & { field: Extract<Field, { kind: "variants" }> }) {
  const value = at(form.value, path)
  const variants = field.variants.map((variant) => settle(variant, form.root))
  const [chosen, setChosen] = useState(() => likeliest(variants, value))
  const names = variants.map((variant, index) => nameOf(variant, index))
  const id = useId()
  const choose = (index: number): void => {
    setChosen(index)
    form.change(withPart(form.value, path, startingValue(variants[index], form.root, depth + 1)))
  }
  const rest = Object.fromEntries(
    Object.entries(schema).filter(([key]) => key !== "anyOf" && key !== "oneOf" && key !== "description"),
  )
  return (
    <div className="flex flex-col gap-2 border-l-2 border-line pl-3">
      <label htmlFor={id} className="text-[12px] text-soft">
        One of {variants.length} forms
      </label>
      <select
        id={id}
        className="field max-w-md"
        value={chosen}
        onChange={(event) => choose(Number(event.target.value))}
      >
        {names.map((name, index) => (
          <option key={index} value={index}>
            {visible(name)}
          </option>
        ))}
      </select>
      <Part key={chosen} form={form} schema={{ ...rest, ...variants[chosen] }} path={path} depth={depth + 1} />
    </div>
  )
}

function nameOf({ title, type, const: only, enum: values, properties, required }: Schema, index: number): string {
  if (typeof title === "string") return title
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values))
    return values
      .slice(0, 4)
      .map((value) => JSON.stringify(value))
      .join(" | ")
  const names = required ?? Object.keys(properties ?? {})
  if (Array.isArray(names) && names.length > 0) return `with ${names.slice(0, 4).join(", ")}`
  return typeof type === "string" ? type : `form ${index + 1}`
}

function likeliest(variants: Schema[], value: unknown): number {
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value
  const fitting = variants.findIndex(({ type: wanted, required, const: only }) => {
    if (only !== undefined) return only === value
    const types = wanted === undefined ? [] : [wanted].flat()
    if (types.length > 0 && !types.some((each) => each === type || (each === "integer" && type === "number")))
      return false
    return !isObject(value) || !Array.isArray(required) || required.every((name) => name in value)
  })
  return Math.max(0, fitting)
}
