import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RejectedError } from '../../../src/client/call/errors.js';
import { mayRetry } from '../../../src/client/call/retry.js';
import { endpoints } from '../../../src/core/contract/endpoints.js';
import {
  httpStatusOf,
  ownResultCodes,
  resultCode,
  resultCodeEntry,
  resultCodes,
} from '../../../src/core/contract/result-codes.js';

describe('the table of result codes', () => {
  it('knows every code, in ascending order, and no other', () => {
    expect([...ownResultCodes.keys()]).toEqual([...resultCodes].sort((one, other) => one - other));
  });

  it('has no code that nothing answers with', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    );
    const code = files.map((file) => readFileSync(join('src', file), 'utf8')).join('\n');
    const used = new Set([...code.matchAll(/\bresultCode\.(\w+)/g)].map(([, name]) => name));
    expect(Object.keys(resultCode).filter((name) => !used.has(name))).toEqual([]);
  });

  it.each(resultCodes.slice(1).map((code) => [code]))(
    '%i says whether to retry as the client does',
    (code) => {
      const { retry, msg } = resultCodeEntry(code);
      for (const endpoint of endpoints) {
        const refusal = new RejectedError({ resultCode: code, operation: endpoint.operation });
        const again = retry === 'repeatable' ? endpoint.repeatable : retry !== 'never';
        expect(refusal).toMatchObject({ msg, httpStatus: httpStatusOf(code), retryable: again });
        expect(mayRetry(endpoint, refusal)).toBe(again);
      }
    },
  );
});
