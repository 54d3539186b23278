/** What a node of a syntax tree declares. */
export interface Declaration {
  readonly kind: string
  /** Field of the node that holds the name; `name` unless given. */
  readonly name?: string
  /** Declarations inside it are its members. */
  readonly container?: boolean
}

/** How a language's syntax trees are read. Node types are those of its tree-sitter grammar. */
export interface SyntaxRules {
  readonly declarations: Readonly<Record<string, Declaration>>
  /** Nodes that only wrap declarations. */
  readonly transparent: readonly string[]
  readonly imports: readonly string[]
  /** Calls, and the field that holds what is called. */
  readonly calls: Readonly<Record<string, string>>
  /** Qualified names (`a.b`), whose last part is what is meant. */
  readonly qualified: readonly string[]
  /** Kinds that become another one inside a container: a function in a class is a method. */
  readonly members?: Readonly<Record<string, string>>
}

export type Grammar = "typescript" | "tsx" | "javascript" | "python" | "go" | "rust" | "java"

const ECMASCRIPT: SyntaxRules = {
  declarations: {
    function_declaration: { kind: "function" },
    generator_function_declaration: { kind: "function" },
    function_signature: { kind: "function" },
    class_declaration: { kind: "class", container: true },
    abstract_class_declaration: { kind: "class", container: true },
    method_definition: { kind: "method" },
    method_signature: { kind: "method" },
    abstract_method_signature: { kind: "method" },
    public_field_definition: { kind: "field" },
    field_definition: { kind: "field", name: "property" },
    property_signature: { kind: "field" },
    interface_declaration: { kind: "interface", container: true },
    type_alias_declaration: { kind: "type" },
    enum_declaration: { kind: "enum" },
    internal_module: { kind: "namespace", container: true },
    module: { kind: "namespace", container: true },
    variable_declarator: { kind: "variable" },
  },
  transparent: [
    "program",
    "export_statement",
    "lexical_declaration",
    "variable_declaration",
    "class_body",
    "interface_body",
    "object_type",
    "expression_statement",
    "ambient_declaration",
    "statement_block",
  ],
  imports: ["import_statement"],
  calls: { call_expression: "function", new_expression: "constructor" },
  qualified: ["member_expression", "nested_identifier"],
}

const PYTHON: SyntaxRules = {
  declarations: {
    function_definition: { kind: "function" },
    class_definition: { kind: "class", container: true },
    assignment: { kind: "variable", name: "left" },
    type_alias_statement: { kind: "type", name: "left" },
  },
  transparent: [
    "module",
    "decorated_definition",
    "block",
    "expression_statement",
    "if_statement",
    "else_clause",
    "elif_clause",
    "try_statement",
    "except_clause",
    "with_statement",
  ],
  imports: ["import_statement", "import_from_statement", "future_import_statement"],
  calls: { call: "function" },
  qualified: ["attribute", "dotted_name"],
  members: { function: "method", variable: "field" },
}

const GO: SyntaxRules = {
  declarations: {
    function_declaration: { kind: "function" },
    method_declaration: { kind: "method" },
    type_spec: { kind: "type", container: true },
    type_alias: { kind: "type" },
    const_spec: { kind: "constant" },
    var_spec: { kind: "variable" },
    field_declaration: { kind: "field" },
    method_elem: { kind: "method" },
  },
  transparent: [
    "source_file",
    "type_declaration",
    "const_declaration",
    "var_declaration",
    "var_spec_list",
    "struct_type",
    "field_declaration_list",
    "interface_type",
  ],
  imports: ["import_declaration"],
  calls: { call_expression: "function" },
  qualified: ["selector_expression", "qualified_type"],
}

const RUST: SyntaxRules = {
  declarations: {
    function_item: { kind: "function" },
    function_signature_item: { kind: "function" },
    struct_item: { kind: "struct", container: true },
    union_item: { kind: "struct", container: true },
    enum_item: { kind: "enum", container: true },
    trait_item: { kind: "trait", container: true },
    mod_item: { kind: "module", container: true },
    impl_item: { kind: "impl", name: "type", container: true },
    const_item: { kind: "constant" },
    static_item: { kind: "variable" },
    type_item: { kind: "type" },
    macro_definition: { kind: "macro" },
    field_declaration: { kind: "field" },
    enum_variant: { kind: "variant" },
  },
  transparent: ["source_file", "declaration_list", "field_declaration_list", "enum_variant_list"],
  imports: ["use_declaration", "extern_crate_declaration"],
  calls: { call_expression: "function", macro_invocation: "macro" },
  qualified: ["field_expression", "scoped_identifier", "scoped_type_identifier"],
  members: { function: "method" },
}

const JAVA: SyntaxRules = {
  declarations: {
    class_declaration: { kind: "class", container: true },
    interface_declaration: { kind: "interface", container: true },
    enum_declaration: { kind: "enum", container: true },
    record_declaration: { kind: "record", container: true },
    annotation_type_declaration: { kind: "annotation", container: true },
    method_declaration: { kind: "method" },
    constructor_declaration: { kind: "constructor" },
    variable_declarator: { kind: "field" },
    enum_constant: { kind: "constant" },
  },
  transparent: [
    "program",
    "class_body",
    "interface_body",
    "enum_body",
    "enum_body_declarations",
    "annotation_type_body",
    "field_declaration",
    "constant_declaration",
  ],
  imports: ["import_declaration"],
  calls: { method_invocation: "name", object_creation_expression: "type" },
  qualified: ["field_access", "scoped_identifier", "scoped_type_identifier"],
}

export const RULES: Readonly<Record<Grammar, SyntaxRules>> = {
  typescript: ECMASCRIPT,
  tsx: ECMASCRIPT,
  javascript: ECMASCRIPT,
  python: PYTHON,
  go: GO,
  rust: RUST,
  java: JAVA,
}

const GRAMMARS: Readonly<Record<string, Grammar>> = {
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  tsx: "tsx",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  py: "python",
  pyi: "python",
  go: "go",
  rs: "rust",
  java: "java",
}

export const EXTENSIONS: readonly string[] = Object.keys(GRAMMARS)

/** The grammar for a file, by the end of its name. */
export function grammarOf(path: string): Grammar | undefined {
  return GRAMMARS[/\.(\w+)$/u.exec(path)?.[1]?.toLowerCase() ?? ""]
}
