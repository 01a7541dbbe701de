import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Packing } from '../../../src/cli/bulk/packed-requests.js';
import { passbackRequest, readRequest } from '../../../src/client/request.js';
import { RequestSigner } from '../../../src/client/request-signer.js';

const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => !value.includes('\0'));
const signer = new RequestSigner({
  baseUrl: 'http://127.0.0.1',
  tenantCode: 'acme',
  channel: 'web',
  appKey: 'app-1',
  appSecret: 'do-not-show-me',
});

const reads = fc
  .record({ code: text, infoNames: fc.constantFrom([], ['mobile', 'level']) })
  .map((input) => readRequest(input));
const passbacks = fc
  .record({ unionId: fc.option(text, { nil: undefined }), value: text })
  .map(({ unionId, value }) => passbackRequest({ unionId, primaryKey: 'key', userInfo: { key: value } }));

it.each([
  ['reads', reads],
  ['passbacks', passbacks],
])('%s come through a thread as they were, and so do they signed', (_, requests) => {
  fc.assert(
    fc.property(fc.array(requests, { minLength: 1 }), (sent) => {
      const [{ endpoint }] = sent as [(typeof sent)[number]];
      const packing = new Packing(endpoint);
      expect(packing.unpack(structuredClone(packing.pack(sent)))).toEqual(sent);
      const signed = [null, ...sent.map((request) => signer.sign(request))];
      expect(packing.unpackSigned(structuredClone(packing.packSigned(signed)))).toEqual(signed);
    }),
  );
});
