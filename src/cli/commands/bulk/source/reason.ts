/**
 * The column, or the member of NDJSON, that says why a row is not ok, in the file of failed rows.
 * It is no value of the row: it is not sent when the file is the input of a run.
 */
export const reasonColumn = 'userinfo_reason';

/** What is said of an input that has it. */
export const reasonNote = `"${reasonColumn}" says why a row was not ok: it is not sent`;
