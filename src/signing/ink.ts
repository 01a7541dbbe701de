/** A change of text. `local` ones work character by character, so they may be applied stretch by stretch. */
export interface TextChange {
  readonly apply: (text: string) => string;
  readonly local: boolean;
}

/**
 * What a recipe writes with. It runs once with `plain`, which gives the text that is signed, and once with
 * `masked` to be explained; nothing is ever searched for the secret afterwards.
 */
export interface Ink<T> {
  readonly empty: T;
  open(text: string): T;
  /** Text made of the secret, and what is shown in its place. */
  secret(text: string, label: string): T;
  join(text: T, more: T): T;
  /** Many texts as one, with a literal between them. */
  list(texts: readonly T[], separator: string): T;
  change(text: T, change: TextChange): T;
}

/** Writes text as it is signed. */
export const plain: Ink<string> = {
  empty: '',
  open: (text) => text,
  secret: (text) => text,
  join: (text, more) => text + more,
  list: (texts, separator) => texts.join(separator),
  change: (text, { apply }) => apply(text),
};

/** Text as it may be shown: open stretches, and labels where the secret was left out. */
export type Masked = readonly (string | Label)[];

interface Label {
  readonly label: string;
}

/** Writes text as it may be shown. The secret never enters it. */
export const masked: Ink<Masked> = {
  empty: [],
  open: (text) => [text],
  secret: (_text, label) => [{ label }],
  join: (text, more) => joinStretches(text, more),
  list: (texts, separator) =>
    texts.reduce<Masked>(
      (text, more, index) => joinStretches(index === 0 ? text : joinStretches(text, [separator]), more),
      [],
    ),
  change(text, { apply, local }) {
    const secret = text.find((stretch) => typeof stretch !== 'string');
    if (secret !== undefined && !local) return [secret];
    return local
      ? text.map((stretch) => (typeof stretch === 'string' ? apply(stretch) : stretch))
      : [apply(text.join(''))];
  },
};

/** Stretches that meet become one: a text of many parts stays as few as it has labels. */
function joinStretches(text: Masked, more: Masked): Masked {
  const last = text.at(-1);
  const [first, ...rest] = more;
  if (typeof last !== 'string' || typeof first !== 'string') return [...text, ...more];
  return [...text.slice(0, -1), last + first, ...rest];
}

/** Masked text on one line, its open stretches changed by `encode`. */
export function showMasked(text: Masked, encode = (open: string) => open): string {
  return text.map((stretch) => (typeof stretch === 'string' ? encode(stretch) : stretch.label)).join('');
}
