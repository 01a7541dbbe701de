// Apart from print.ts: only -o yaml needs yaml.
import { isLosslessNumber, type LosslessNumber } from 'lossless-json';
import { type ScalarTag, stringify } from 'yaml';
import { escapeUnsafe, hasUnsafe } from '../../support/unsafe-characters.js';

/** Numbers as they were written. */
const writtenNumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  identify: isLosslessNumber,
  default: true,
  resolve: Number,
  stringify: ({ value }) => String(value as LosslessNumber),
};

/** Text with characters that YAML does not allow as they are, or that would act on a terminal: quoted as JSON is. */
const escapedText: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  identify: (value) => typeof value === 'string' && hasUnsafe(value),
  default: true,
  resolve: String,
  stringify: ({ value }) => escapeUnsafe(JSON.stringify(value)),
};

/**
 * Data as a YAML document that readers of YAML 1.1 and 1.2 understand alike. Text of several lines is quoted: as a
 * block, white space at its ends could be lost.
 */
export function formatYaml(data: unknown): string {
  return stringify(data, {
    customTags: (tags) => [escapedText, writtenNumber, ...tags],
    compat: 'yaml-1.1',
    blockQuote: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
}
