import { isLosslessNumber, type LosslessNumber } from 'lossless-json';
import { type ScalarTag, stringify } from 'yaml';

/** Numbers as they were written. */
const writtenNumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  identify: isLosslessNumber,
  default: true,
  resolve: Number,
  stringify: ({ value }) => String(value as LosslessNumber),
};

/**
 * Data as a YAML document that readers of YAML 1.1 and 1.2 understand alike. Text of several lines is quoted: as a
 * block, white space at its ends could be lost.
 */
export function formatYaml(data: unknown): string {
  return stringify(data, {
    customTags: [writtenNumber],
    compat: 'yaml-1.1',
    blockQuote: false,
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
}
