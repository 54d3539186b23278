import type { Language } from "./values.ts"

/**
 * What the template of a file is rendered with: the documentation and every import and element as source text, `kind`
 * telling what an element is.
 * `path` and `language` are there for headers.
 */
export interface TemplateData {
  readonly path: string
  readonly language: Language
  readonly docstring: string
  readonly imports: readonly string[]
  readonly elements: readonly { readonly kind: string; readonly name: string; readonly text: string }[]
}

/** Two blank lines between definitions, as PEP 8 has it; variables that follow one another stay together. */
const PYTHON = `\
{% if docstring %}
{{ docstring }}

{% endif %}
{% for import in imports %}
{{ import }}
{% endfor %}
{% if imports and elements %}

{% if elements[0].kind != "variable" %}

{% endif %}
{% endif %}
{% for element in elements %}
{% if not loop.first and not (element.kind == "variable" and loop.previtem.kind == "variable") %}


{% endif %}
{{ element.text }}
{% endfor %}
`

/** One blank line between declarations; variables that follow one another stay together. */
const ECMASCRIPT = `\
{% if docstring %}
{{ docstring }}

{% endif %}
{% for import in imports %}
{{ import }}
{% endfor %}
{% if imports and elements %}

{% endif %}
{% for element in elements %}
{% if not loop.first and not (element.kind == "variable" and loop.previtem.kind == "variable") %}

{% endif %}
{{ element.text }}
{% endfor %}
`

/** The layout of generated files, as Jinja templates; configuration may replace each. */
export const DEFAULT_TEMPLATES: Readonly<Record<Language, string>> = {
  python: PYTHON,
  typescript: ECMASCRIPT,
  javascript: ECMASCRIPT,
}

/** Templates of a configuration, by language. */
export type FileTemplates = Partial<Record<Language, string>>
