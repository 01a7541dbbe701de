// Apart from index.ts: only a run of the command loads it.
import { randomUUID } from 'node:crypto';
import type { PlainRequest } from '../../../client/request.js';
import {
  type Endpoint,
  type Parameter,
  passbackEndpoint,
  readEndpoint,
} from '../../../protocol/endpoints.js';
import type { ResultCodeName } from '../../../protocol/result-codes.js';
import type { Signers } from '../../../signing/app-signatures.js';
import type { Signer } from '../../../signing/signer.js';

/** A request of the probe: what it is, and what a correct platform refuses it for. */
export interface ProbeRequest {
  readonly title: string;
  /** The refusal that it asks for; undefined for one that should be carried out. */
  readonly means?: ResultCodeName;
  readonly request: PlainRequest;
  /** The signers that sign it. Default: those of the profile. */
  readonly sign?: (signers: Signers) => Signers;
  readonly tenantCode?: string;
  readonly appKey?: string;
  /** The age of its timestamp, in seconds. Default: 0. */
  readonly age?: number;
  /** The parameter that is shorter than §8 allows. */
  readonly short?: 'random' | 'timestamp';
  /** The key that a passback passes back. */
  readonly key?: string;
  /** Whether it names a user: nothing of its answer but codes and types is kept. */
  readonly isPersonal?: true;
}

/** A value that the probe makes up: no platform has it. */
const invented = 'userinfo_probe';

/** An old timestamp: older than any window that a platform file can have. */
export const oldSeconds = 3600;

/** A name that nobody has. */
export const absentName = `${invented}_absent`;

/** The text of the number that is passed back: its last digit is lost where it is read as a number. */
const probeNumber = '1.50';

/** A code that no platform issued. */
function unknownCode(): string {
  return randomUUID().replaceAll('-', '');
}

function read(values: Readonly<Record<string, string>>, endpoint: Endpoint = readEndpoint): PlainRequest {
  return { endpoint, parameters: new Map(Object.entries(values)), infoNames: [] };
}

/** The read endpoint with other parameters than §4.1 has. */
function readWith(change: (parameters: readonly Parameter[]) => readonly Parameter[]): Endpoint {
  return { ...readEndpoint, parameters: change(readEndpoint.parameters) };
}

/** The read endpoint without a parameter. */
function readWithout(name: string): Endpoint {
  return readWith((parameters) => parameters.filter((parameter) => parameter.name !== name));
}

/** The read endpoint without the form that §8 gives to a parameter. */
function readWithAny(name: string): Endpoint {
  return readWith((parameters) =>
    parameters.map((parameter) => {
      const { length: _length, digits: _digits, ...formless } = parameter;
      return parameter.name === name ? formless : parameter;
    }),
  );
}

/** A right read but for its code, which the platform never issued. */
export const unknownCodeRead = (): ProbeRequest => ({
  title: 'a code that was never issued',
  means: 'codeNotValid',
  request: read({ code: unknownCode() }),
});

/** A right read but for its code, with a timestamp of this age. */
export const agedRead = (age: number): ProbeRequest => ({
  title: `a timestamp ${age} s old`,
  means: 'timestampOutsideWindow',
  request: read({ code: unknownCode() }),
  age,
});

/** The reads that a correct platform refuses, each for one fault; their codes were never issued. */
export const faultyReads = {
  noCode: {
    title: 'no code',
    means: 'missingParameter',
    request: read({}, readWithout('code')),
  },
  noChannel: {
    title: 'no channel',
    means: 'missingParameter',
    request: read({ code: unknownCode() }, readWithout('channel')),
  },
  shortRandom: {
    title: 'a random of 7 characters',
    means: 'malformedParameter',
    request: read({ code: unknownCode() }, readWithAny('random')),
    short: 'random',
  },
  shortTimestamp: {
    title: 'a timestamp of 9 digits',
    means: 'malformedParameter',
    request: read({ code: unknownCode() }, readWithAny('timestamp')),
    short: 'timestamp',
  },
  unknownApp: {
    title: 'an unknown app_key',
    means: 'unknownAppKey',
    request: read({ code: unknownCode() }),
    appKey: invented,
  },
  otherTenant: {
    title: 'another tenant_code',
    means: 'appNotAllowed',
    request: read({ code: unknownCode() }),
    tenantCode: invented,
  },
  wrongAppSign: {
    title: 'a wrong app_sign',
    means: 'wrongAppSign',
    request: read({ code: unknownCode() }),
    sign: ({ app_sign, sign }) => ({ app_sign: spoiled(app_sign), sign }),
  },
  wrongSign: {
    title: 'a wrong sign',
    means: 'wrongSign',
    request: read({ code: unknownCode() }),
    sign: ({ app_sign, sign }) => ({ app_sign, sign: spoiled(sign) }),
  },
  oldTimestamp: { ...agedRead(oldSeconds), title: 'a timestamp an hour old' },
  unknownParameter: {
    title: 'a parameter too many',
    means: 'malformedParameter',
    request: read(
      { code: unknownCode(), [invented]: '1' },
      readWith((parameters) => [
        ...parameters,
        { name: invented, in: 'query', type: 'string', required: false, meaning: '' },
      ]),
    ),
  },
  usualScope: {
    title: 'the scope get_user_info',
    request: read({ code: unknownCode(), scope: 'get_user_info' }),
  },
  otherScope: {
    title: 'another scope',
    means: 'malformedParameter',
    request: read({ code: unknownCode(), scope: invented }),
  },
  otherMethod: {
    title: 'GET where a passback is a PUT',
    means: 'wrongMethod',
    request: read(
      {},
      {
        ...passbackEndpoint,
        method: 'GET',
        parameters: passbackEndpoint.parameters.filter((parameter) => parameter.in === 'query'),
      },
    ),
  },
  otherPath: {
    title: 'a path without an operation',
    means: 'noSuchPath',
    request: read({ code: unknownCode() }, { ...readEndpoint, path: `/api/v1/server/user/${invented}` }),
  },
} as const satisfies Readonly<Record<string, ProbeRequest>>;

export type FaultyRead = keyof typeof faultyReads;

/** A signer whose signatures have the right length, and a wrong first character. */
function spoiled(signer: Signer): Signer {
  return {
    digestLength: signer.digestLength,
    sign: (request, secret) => {
      const signature = signer.sign(request, secret);
      const { digest } = signature;
      return { ...signature, digest: (digest.startsWith('0') ? '1' : '0') + digest.slice(1) };
    },
    explain: (request, secret) => signer.explain(request, secret),
  };
}

/** A read with a code that was issued, of the whole record or by names. */
export function issuedRead(code: string, infoNames: readonly string[] = []): ProbeRequest {
  const names = infoNames.length === 0 ? {} : { info_name: infoNames.join(',') };
  return {
    title: infoNames.length === 0 ? 'a read of the whole record' : 'a read by names',
    request: { endpoint: readEndpoint, parameters: new Map(Object.entries({ code, ...names })), infoNames },
    isPersonal: true,
  };
}

function passback(
  title: string,
  values: Readonly<Record<string, string>>,
  means?: ResultCodeName,
): ProbeRequest {
  const request = { endpoint: passbackEndpoint, parameters: new Map(Object.entries(values)), infoNames: [] };
  return { title, request, isPersonal: true, ...(means === undefined ? {} : { means }) };
}

/** The passback of the probe's own key: a number. */
export function keyPassback(unionId: string, key: string): ProbeRequest {
  const user_info = `{${JSON.stringify(key)}:${probeNumber}}`;
  return { ...passback('a passback', { union_id: unionId, user_info }), key };
}

/** The passbacks that a correct platform refuses. Those that name the user would write the probe's key, or the ID. */
export function faultyPassbacks(unionId: string, key: string): ProbeRequest[] {
  const own = (value: unknown) => JSON.stringify({ [key]: value });
  return [
    passback('a passback without a user', { user_info: own('1') }, 'userNotNamed'),
    passback(
      'a primary_key that is not in user_info',
      { primary_key: absentName, user_info: own('1') },
      'primaryKeyNotInUserInfo',
    ),
    passback('a user_info of two levels', { union_id: unionId, user_info: own({ a: 1 }) }, 'userInfoNotFlat'),
    passback(
      'a reserved key in user_info',
      { union_id: unionId, user_info: JSON.stringify({ union_id: unionId }) },
      'reservedKey',
    ),
  ];
}
