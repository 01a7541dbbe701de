export const cases = ['none', 'lower', 'upper'] as const;
export type Case = (typeof cases)[number];

export const folds: Readonly<Record<Case, (text: string) => string>> = {
  none: (text) => text,
  lower: (text) => text.toLowerCase(),
  upper: (text) => text.toUpperCase(),
};
