import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RejectedError } from '../../src/client/errors.js';
import { mayRetry } from '../../src/client/retry.js';
import { endpointNamed } from '../../src/protocol/endpoints.js';
import {
  entryOf,
  httpStatusOf,
  ownResultCodes,
  resultCode,
  resultCodes,
} from '../../src/protocol/result-codes.js';

describe('the table of result codes', () => {
  it('knows every code, in ascending order, and no other', () => {
    expect([...ownResultCodes.keys()]).toEqual([...resultCodes].sort((one, other) => one - other));
    expect(ownResultCodes.get(40199)).toBeUndefined();
    expect(ownResultCodes.get(Number.NaN)).toBeUndefined();
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
      const { retry, msg } = entryOf(code);
      const refused = (operation: 'read' | 'passback') => new RejectedError({ resultCode: code, operation });
      const [read, passback] = [refused('read'), refused('passback')];
      expect(read).toMatchObject({ msg, httpStatus: httpStatusOf(code) });
      expect(mayRetry(endpointNamed.read, read)).toBe(retry === 'always' || retry === 'later');
      expect(mayRetry(endpointNamed.passback, passback)).toBe(retry !== 'never');
      expect([read.retryable, passback.retryable]).toEqual([
        mayRetry(endpointNamed.read, read),
        mayRetry(endpointNamed.passback, passback),
      ]);
    },
  );
});
