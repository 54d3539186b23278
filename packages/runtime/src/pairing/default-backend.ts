/** The backend of the pairing that does runs where no model is configured. */
export const DEFAULT_BACKEND = "pocket"
