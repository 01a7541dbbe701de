import fc from 'fast-check';
import { expect, it } from 'vitest';
import { packRows, packSigned, unpackRows, unpackSigned } from '../../../src/cli/bulk/packed-rows.js';
import { passbackRequest } from '../../../src/client/request.js';
import { RequestSigner } from '../../../src/client/request-signer.js';
import { passbackEndpoint, readEndpoint } from '../../../src/protocol/endpoints.js';

const text = fc.string({ unit: 'grapheme' });

it('rows come to a thread as they were, and those of another length as none', () => {
  const rows = fc
    .integer({ min: 1, max: 4 })
    .chain((length) => fc.tuple(fc.constant(length), fc.array(fc.array(text, { maxLength: 5 }))));
  fc.assert(
    fc.property(rows, ([length, sent]) => {
      const received = unpackRows(structuredClone(packRows(sent, length)), length);
      expect(received).toEqual(sent.map((texts) => (texts.length === length ? texts : null)));
    }),
  );
});

it('signed rows come back as they were', () => {
  const signer = new RequestSigner({
    baseUrl: 'http://127.0.0.1',
    tenantCode: 'acme',
    channel: 'web',
    appKey: 'app-1',
    appSecret: 'do-not-show-me',
  });
  const { target, body } = signer.sign(passbackRequest({ unionId: 'u1', userInfo: { level: 'gold' } }));
  for (const endpoint of [readEndpoint, passbackEndpoint]) {
    const row = fc.record({
      user: fc.option(text),
      request: fc.record({
        endpoint: fc.constant(endpoint),
        target: fc.constantFrom(target, '/'),
        body: fc.constantFrom(body, null),
      }),
    });
    fc.assert(
      fc.property(fc.array(fc.option(row)), (signed) => {
        expect(unpackSigned(structuredClone(packSigned(signed)), endpoint)).toEqual(signed);
      }),
    );
  }
});
