/** What is to be done with each row, as data. */
export type RowTask =
  | { readonly operation: 'passback'; readonly naming: UserNaming }
  | { readonly operation: 'read'; readonly infoNames: readonly string[]; readonly scope: string | undefined };

/** How each row names its user (§4.2): by a column of union IDs, or by one of the values that are passed back. */
export type UserNaming =
  | { readonly by: 'union_id'; readonly column: string }
  | { readonly by: 'primary_key'; readonly key: string };
