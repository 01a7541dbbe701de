import { type SigningChoice, signaturesOf, signBoth, withAppSign } from '../../signing/app-signatures.js';
import { type Param, queryOf, type SignableRequest, withoutParams } from '../../signing/request.js';
import { Secret } from '../../signing/secret.js';
import testRequests from './test-requests.json' with { type: 'json' };
import type { ExportedCase } from './writer.js';

/** No service accepts it. */
export const testSecret = 'throw-away-secret-0123456789';

/** Requests that tell implementations apart, with each of their signatures. */
export function casesOf(signing: SigningChoice): ExportedCase[] {
  const secret = new Secret(testSecret);
  return testRequests.flatMap((given) =>
    signaturesOf(signing, filledFor(signing, requestOf(given), secret)).map(
      ({ name: rule, request, signer }): ExportedCase => {
        const { method, url, query, params, body, extra } = request;
        // Names of headers have no letter case.
        const headers = Object.entries(extra).map(([name, value]) => [name.toLowerCase(), value]);
        return {
          rule,
          title: `${rule}: ${given.name}`,
          method,
          url: signer.usesQuery ? `${url}?${query}` : url,
          params,
          body,
          extra: Object.fromEntries(headers),
          secret: testSecret,
          signature: signer.sign(request, secret).digest,
        };
      },
    ),
  );
}

/** The request with all that the signers read, and with its `app_sign`; without one where a single recipe signs. */
function filledFor(signing: SigningChoice, given: SignableRequest, secret: Secret): SignableRequest {
  const isOne = signing.kind === 'one';
  const request = isOne ? withoutParams(given, ['app_sign']) : given;
  const signers = isOne ? [signing.signer] : Object.values(signing.signers);
  const missing = new Set(signers.flatMap((signer) => signer.explain(request, secret).missing));
  const valuesOf = (start: string) =>
    [...missing]
      .filter((token) => token.startsWith(start))
      .map((token) => token.slice(start.length))
      .map((name): Param => [name, `value of ${name}`]);
  const filled = {
    ...request,
    params: [...request.params, ...valuesOf('$param:')],
    extra: Object.fromEntries(valuesOf('$extra:')),
  };
  return isOne ? filled : withAppSign(filled, signBoth(signing.signers, filled, secret).app_sign.digest);
}

const base: readonly Param[] = [
  ['tenant_code', 'acme'],
  ['app_key', 'throw-away-key'],
  ['app_sign', ''],
  ['channel', 'web'],
  ['random', 'k3J9xQ2mVb7T'],
  ['timestamp', '1700000000'],
];

const folder = 'https://api.example.com/api/v1/server/user';

function requestOf({ query = {}, form }: (typeof testRequests)[number]): SignableRequest {
  const inQuery = [...base, ...Object.entries(query)];
  const sent = { query: queryOf(inQuery), extra: {} };
  if (form === undefined)
    return { ...sent, method: 'GET', url: `${folder}/user_info_for_third`, params: inQuery, body: null };
  const fields = Object.entries(form);
  const params = [...inQuery, ...fields];
  return { ...sent, method: 'PUT', url: `${folder}/passback_user_info`, params, body: queryOf(fields) };
}
