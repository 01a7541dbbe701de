import { isLosslessNumber, type LosslessNumber } from 'lossless-json';
import { type ScalarTag, stringify } from 'yaml';
import { escapeUnsafe, hasUnsafe } from '../../core/contract/unsafe-text.js';

/**
 * Numbers with the digits as received. With an exponent, YAML 1.1 needs a point and a sign: 1e3
 * would be text.
 */
const writtenNumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  identify: isLosslessNumber,
  default: true,
  resolve: Number,
  stringify: ({ value }) =>
    String(value as LosslessNumber)
      .replace(/^(-?\d+)(?=e)/i, '$1.0')
      .replace(/e(?=\d)/i, 'e+'),
};

/** Plain, these are the value and the merge key of YAML 1.1. */
const keysOfYaml11 = ['=', '<<'];

/**
 * Text with characters that YAML does not allow or that are unsafe on a terminal: quoted as in
 * JSON.
 */
const escapedText: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  identify: (value) =>
    typeof value === 'string' && (hasUnsafe(value) || keysOfYaml11.includes(value)),
  default: true,
  resolve: String,
  stringify: ({ value }) => escapeUnsafe(JSON.stringify(value)),
};

/**
 * Formats data as a YAML document with the same meaning in YAML 1.1 and 1.2. Text of several lines
 * is quoted: a block could lose white space at its ends.
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
