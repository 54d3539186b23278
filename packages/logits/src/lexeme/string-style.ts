/** The ways in which families write a string. */

/** How a string is written. */
export type StringStyle =
  /** In double quotes, with the escapes of RFC 8259. */
  | { readonly kind: "json" }
  /** In single or double quotes, with Python's escapes `\\ \' \" \n \r \t \b \f \uXXXX`. */
  | { readonly kind: "python" }
  /** Between two markers, without escapes; the text cannot contain `close`. */
  | { readonly kind: "delimited"; readonly open: string; readonly close: string }
  /** Without quotes and without escapes, up to any of the markers, which stay unread. */
  | { readonly kind: "bare"; readonly stop: readonly string[] }
