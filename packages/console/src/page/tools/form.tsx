import { useId, useState } from "react"
import { at, isObject, withPart, type Schema } from "../lib/json.ts"
import { fieldOf, settle, startingValue, type Field } from "../lib/schema.ts"
import { visible } from "../lib/text.ts"
import type { CheckAnswer } from "./data.ts"
import { Leaf, Name } from "./form-inputs.tsx"
import { pointer, type Form, type PartProps } from "./form-parts.ts"
import { likeliest, nameOf } from "./form-variants.ts"

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
