/** Which part of a type is meant: families that mark strings in their syntax need strings and the rest apart. */
export type Kinds = "all" | "strings" | "others"
