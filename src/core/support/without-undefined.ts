/** An object without its `undefined` members: what may be `undefined` is optional instead. */
type WithoutUndefined<Members extends object> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

/**
 * The members of an object that are not `undefined`, in their order: an optional member is written
 * into the literal like any other.
 */
export function withoutUndefined<Members extends object>(
  members: Members,
): WithoutUndefined<Members> {
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as WithoutUndefined<Members>;
}
