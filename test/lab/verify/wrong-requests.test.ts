import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { unsentParameters } from '../../../src/core/contract/parameters.js';
import { compileRecipe } from '../../../src/core/signing/compile-recipe.js';
import { parseRecipe } from '../../../src/core/signing/recipe-json.js';
import { Secret } from '../../../src/core/signing/secret.js';
import { operationOf } from '../../../src/lab/samples/captured-request.js';
import { namedPresets } from '../../../src/lab/verify/recipe-suspects.js';
import { sentencesOf } from '../../../src/lab/verify/verify-signature.js';
import { readSample } from '../../support/read-sample.js';
import { verifySignature } from '../../support/verify-signature.js';

const program = fileURLToPath(new URL('wrong_requests.py', import.meta.url));

interface WrongRequest {
  readonly recipe: unknown;
  readonly sample: { readonly secret: string };
  /** What the signature should be. */
  readonly right: string;
  readonly cause: string;
  /** The mistakes that give the same signature. */
  readonly causes: readonly string[];
}

/** What is said of a mistake; `NAME` is a parameter. */
const said: Readonly<Record<string, RegExp>> = {
  'charset gbk': /bytes of GBK/,
  'charset gb18030': /bytes of GB18030/,
  'charset big5': /bytes of Big5/,
  'charset latin1': /bytes of Latin-1 in/,
  'charset latin1-cut': /bytes of Latin-1, each character cut/,
  'charset utf16': /bytes of UTF-16/,
  'encoder none': /not encoded|nothing encoded/,
  'encoder java': /as by Java \(a space/,
  'encoder php': /as by PHP/,
  'encoder python': /as by Python \(a space/,
  'encoder httputility': /as by HttpUtility/,
  'encoder webutility': /as by WebUtility/,
  'encoder rfc3986': /percent-encoded \(a space/,
  'encoder javascript': /encodeURIComponent/,
  'encoder quote': /quote of Python/,
  'encoder java-plus': /Java, \+ replaced by %20 \(\* as it is, ~ as %7E/,
  'encoder java-plus-tilde': /Java, \+ replaced by %20 \(\* as it is, ~ as it is/,
  'encoder encodeuri': /encodeURI of/,
  'encoder lower-escapes': /escapes in lower case/,
  place: /of the query alone|of the query and of the form/,
  'writes values': /the values alone/,
  'writes names': /the names alone/,
  'writes both': /between name and value|glued together/,
  'order name': /sorted by name\./,
  'order name-desc': /from back to front/,
  'order value': /sorted by value/,
  'order sent': /in which they were sent/,
  'order reversed': /in the reverse order/,
  'order nocase': /upper and lower case alike/,
  keyed: /by hmac-\S+ of the parameters alone/,
  among: /the secret among the parameters, as/,
  members: /the members of user_info as parameters/,
  time: /timestamp in milliseconds/,
  empty: /parameters that are empty/,
  'left out NAME': /without the parameter NAME/,
  'emptied NAME': /NAME empty/,
  'value upper NAME': /NAME in upper case/,
  'encoded NAME': /NAME (?:percent|form)-encoded once more/,
  'space NAME': /space after the value of NAME/,
  'null NAME': /word null for NAME/,
  'plus NAME': /with \+ in NAME/,
  'not sent': /scope=get_user_info, which was not sent/,
  'sign empty': /sign=, which was not sent/,
  'secret space': /(?:after|before) the secret/,
  'secret quotes': /quotes around the secret/,
  'secret empty': /empty secret/,
  'secret case': /secret in another letter case/,
  'secret md5': /MD5 of the secret/,
  'secret app key': /app key in place of the secret/,
  'secret place': /as (?:SECRET|PARAMETERS)/,
  separators: /between name and value|between pairs|glued together/,
  end: /after the last pair/,
  digest: /signed by (?:hmac-)?(?:md5|sha1|sha256)/,
  'digest twice': /by (\S+), then \1/,
  'key and message': /message as the key/,
  'output hex': /wrong letter case|written as hex/,
  'output HEX': /wrong letter case|written as HEX/,
  'output base64': /written as base64/,
  'message upper': /upper case/,
  'message lower': /lower case/,
  'line end': /line break at the end/,
  'json escaped': /user_info with its non-ASCII characters as/,
  'json slashes': /user_info with its slashes escaped/,
  'json spaced': /user_info with spaces after/,
  'json sorted': /user_info with its keys sorted/,
  address: /with (?:the method|a slash|http )/,
};

/** Whether a sentence names a mistake of the table. */
function names(sentence: string, cause: string): boolean {
  const own = said[cause.trim()];
  if (own !== undefined) return own.test(sentence);
  const start = cause.lastIndexOf(' ') + 1;
  const name = cause.slice(start);
  const pattern = said[`${cause.slice(0, start)}NAME`];
  if (pattern === undefined) throw new Error(`the table has no ${cause}`);
  return new RegExp(pattern.source.replace('NAME', name)).test(sentence);
}

/** The first of the causes that are found. */
function causeOf({ recipe: json, sample: given, right }: WrongRequest): string {
  const recipe = parseRecipe(json);
  const signer = compileRecipe(recipe);
  const request = readSample(JSON.stringify(given));
  const secret = new Secret(given.secret);
  const endpoint = operationOf(request.url);
  const sent = new Map(request.params.map(([name, value]) => [name, value]));
  const { explanation, findings } = verifySignature({
    ...{ request, secret, signer, recipe, received: request.signature ?? '' },
    otherSecrets: [],
    otherRecipes: namedPresets,
    unsent: endpoint === undefined ? [] : unsentParameters(endpoint, sent),
  });
  // The two programs sign alike.
  expect(explanation.digest).toBe(right);
  return findings[0] === undefined ? 'nothing' : sentencesOf(findings[0], 'says');
}

const seed = process.env.USERINFO_WRONG_REQUESTS ?? '2026';

it('names the true cause of 300 wrong requests first, in 95 of 100 at least, and of each kind most', {
  timeout: 600_000,
}, () => {
  const lines = execFileSync('python3', [program, seed, '300'], { encoding: 'utf8' });
  const requests = lines
    .trim()
    .split('\n')
    .map((line): WrongRequest => JSON.parse(line));
  const drawn = new Map<string, number>();
  const missed = new Map<string, string[]>();
  for (const request of requests) {
    const { cause, causes, recipe } = request;
    drawn.set(cause, (drawn.get(cause) ?? 0) + 1);
    const sentence = causeOf(request);
    if (causes.some((one) => names(sentence, one))) continue;
    missed.set(cause, [...(missed.get(cause) ?? []), `${sentence} ${JSON.stringify(recipe)}`]);
  }
  expect(requests).toHaveLength(300);
  expect([...missed.values()].flat().slice(15)).toEqual([]);
  const unknown = [...missed].filter(([cause, { length }]) => length * 2 > (drawn.get(cause) ?? 0));
  expect(unknown).toEqual([]);
});
