import { describe, expect, it } from 'vitest';
import { RejectedError } from '../../src/client/errors.js';
import { mayRetry } from '../../src/client/retry.js';
import { entryOf, httpStatusOf, ownResultCodes, resultCodes } from '../../src/protocol/result-codes.js';

describe('the table of result codes', () => {
  it('knows every code, in ascending order, and no other', () => {
    expect([...ownResultCodes.keys()]).toEqual([...resultCodes].sort((one, other) => one - other));
    expect(ownResultCodes.get(40199)).toBeUndefined();
    expect(ownResultCodes.get(Number.NaN)).toBeUndefined();
  });

  it.each(resultCodes.slice(1).map((code) => [code]))(
    '%i says whether to retry as the client does',
    (code) => {
      const { retry, msg } = entryOf(code);
      const refused = new RejectedError({
        envelope: { code, msg, data: {} },
        data: {},
        body: new Uint8Array(),
        httpStatus: httpStatusOf(code),
        headers: {},
        date: undefined,
        requestId: '',
        attempts: 1,
        warnings: [],
      });
      expect(mayRetry('read', refused)).toBe(retry === 'always' || retry === 'later');
      expect(mayRetry('passback', refused)).toBe(retry !== 'never');
    },
  );
});
