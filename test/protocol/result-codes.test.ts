import { describe, expect, it } from 'vitest';
import { mayRetry } from '../../src/client/retry.js';
import {
  describeResultCode,
  httpStatusOf,
  resultCodes,
  resultCodeTexts,
} from '../../src/protocol/result-codes.js';

describe('the table of result codes', () => {
  it('knows every code, in ascending order, and no other', () => {
    expect(Object.keys(resultCodeTexts)).toEqual(resultCodes.map(String));
    expect(describeResultCode(40199)).toBeUndefined();
    expect(describeResultCode(Number.NaN)).toBeUndefined();
  });

  it.each(resultCodes.map((code) => [code]))('%i says whether to retry as the client does', (code) => {
    const { again, msg } = resultCodeTexts[code];
    const answer = {
      envelope: { code, msg, data: {} },
      body: new Uint8Array(),
      httpStatus: httpStatusOf(code),
      date: undefined,
    };
    expect(mayRetry('read', answer)).toBe(again === 'any');
    expect(mayRetry('passback', answer)).toBe(again !== 'none');
  });
});
