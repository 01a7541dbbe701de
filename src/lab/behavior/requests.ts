import { randomInt } from 'node:crypto';
import type { PlainRequest } from '../../client/call/request.js';
import { defaultScope, endpointNamed, type Parameter } from '../../core/contract/endpoints.js';
import type { RefusalDetail } from '../../core/contract/errors.js';
import type { ResultCodeName } from '../../core/contract/result-codes.js';
import type { Signers } from '../../core/signing/app-signatures.js';
import { unissuedCode } from '../unissued-code.js';
import { spoiled } from '../wrong-signers.js';

/** Meaning of a refusal by the platform. */
export type Meaning = ResultCodeName | RefusalDetail;

/** A request of the probe: what it is, and what a correct platform refuses it for. */
export interface ProbeRequest {
  readonly title: string;
  /** The refusal that it asks for; undefined for one that should be carried out. */
  readonly means?: Meaning;
  readonly request: PlainRequest;
  /**
   * Makes its signers of those of the profile.
   *
   * @default these sign it
   */
  readonly changeSigners?: (signers: Signers) => Signers;
  readonly tenantCode?: string;
  readonly appKey?: string;
  /**
   * The age of its timestamp, in seconds.
   *
   * @default 0
   */
  readonly age?: number;
  /** The parameter that is shorter than §8 allows. */
  readonly shortParameter?: 'random' | 'timestamp';
  /** Whether it names a user: the text of its answer is neither shown nor saved. */
  readonly isPersonal?: true;
  /** What it does to a record if it is carried out. */
  readonly effect?:
    | 'writes key'
    | 'removes key'
    | 'writes key of another user'
    | 'writes reserved key';
}

/** A value that the probe makes up: no platform has it. */
const invented = 'userinfo_probe';

/** An old timestamp: older than any window that a platform file can have. */
export const oldSeconds = 3600;

/** A name that nobody has. */
export const absentName = `${invented}_absent`;

/**
 * The reserved key that is passed back (§4.2), with the ID of the user as its value: a platform
 * that takes it changes nothing else.
 */
export const reservedKey = 'union_id';

/**
 * The text of the number that is passed back: its last digit is lost where it is read as a number.
 */
const probeNumber = '1.50';

function readOf(
  values: Readonly<Record<string, string>>,
  infoNames: readonly string[] = [],
): PlainRequest {
  return { endpoint: endpointNamed.read, parameters: new Map(Object.entries(values)), infoNames };
}

/** Minimum length of a code that is imitated: another one of that form is not issued by chance. */
const imitatedLength = 16;

/** Whether a code can be made up that has the form of this one. */
export function canImitate(code: string | undefined): code is string {
  return code !== undefined && code.length >= imitatedLength;
}

/** A code that was never issued, of the form of one that was, where that is long enough. */
export function inventCode(issued: string | undefined): string {
  if (!canImitate(issued)) return unissuedCode();
  const isHex = /^[0-9a-f-]+$/i.test(issued);
  const alphabets = isHex
    ? ['0123456789', 'abcdef', 'ABCDEF']
    : ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  return issued.replace(/[0-9A-Za-z]/g, (character) => {
    const alphabet = alphabets.find((letters) => letters.includes(character)) ?? character;
    return alphabet[randomInt(alphabet.length)] ?? character;
  });
}

/**
 * The control, to compare faults with: a read that is correct except for its code, which was never
 * issued.
 */
export const controlRead = (code: string): ProbeRequest => ({
  title: 'a code that was never issued',
  means: 'codeNotValid',
  request: readOf({ code }),
});

/** The control with a timestamp of this age, in seconds. */
export const agedRead = (code: string, age: number): ProbeRequest => ({
  ...controlRead(code),
  title: `a timestamp ${age} s old`,
  means: 'timestampOutsideWindow',
  age,
});

/** A fault of a read, or another variant: what it changes of a right read. */
interface ReadVariant {
  readonly title: string;
  readonly means?: Meaning;
  /** Whether the spec leaves open that it is refused. */
  readonly isOptional?: true;
  readonly change: (request: PlainRequest) => Partial<ProbeRequest>;
}

/** The request with a change of its table of parameters (§4.1). */
function withParameterTable(
  request: PlainRequest,
  change: (parameters: readonly Parameter[]) => readonly Parameter[],
): Partial<ProbeRequest> {
  const { endpoint } = request;
  return {
    request: { ...request, endpoint: { ...endpoint, parameters: change(endpoint.parameters) } },
  };
}

const without = (name: string) => (request: PlainRequest) =>
  withParameterTable(request, (parameters) =>
    parameters.filter((parameter) => parameter.name !== name),
  );

/** A value that is shorter than the form that §8 gives to a parameter. */
const shorter = (shortParameter: 'random' | 'timestamp') => (request: PlainRequest) => ({
  shortParameter,
  ...withParameterTable(request, (parameters) =>
    parameters.map((parameter) => {
      const { length: _length, digits: _digits, ...formless } = parameter;
      return parameter.name === shortParameter ? formless : parameter;
    }),
  ),
});

const withParameter = (name: string, value: string) => (request: PlainRequest) => {
  const parameters = new Map([...request.parameters, [name, value]]);
  const isKnown = request.endpoint.parameters.some((parameter) => parameter.name === name);
  const unknownParameter = {
    name,
    in: 'query',
    type: 'string',
    required: false,
    meaning: '',
  } as const;
  return withParameterTable({ ...request, parameters }, (table) =>
    isKnown ? table : [...table, unknownParameter],
  );
};

/**
 * The variants of a read, by their names, in the order in which they are asked: the first tells
 * whether the signatures are right, the last show again what others did. A usual scope and a name
 * are no faults: they show whether the rule of the signatures covers what a read may have.
 */
export const readVariants = {
  wrongSign: {
    title: 'a wrong sign',
    means: 'wrongSign',
    change: () => ({ changeSigners: ({ app_sign, sign }) => ({ app_sign, sign: spoiled(sign) }) }),
  },
  noCode: { title: 'no code', means: 'missingParameter', change: without('code') },
  shortRandom: {
    title: 'a random of 7 characters',
    means: 'malformedParameter',
    change: shorter('random'),
  },
  unknownApp: {
    title: 'an unknown app_key',
    means: 'unknownAppKey',
    change: () => ({ appKey: invented }),
  },
  otherTenant: {
    title: 'another tenant_code',
    means: 'appNotAllowed',
    change: () => ({ tenantCode: invented }),
  },
  wrongAppSign: {
    title: 'a wrong app_sign',
    means: 'wrongAppSign',
    change: () => ({
      changeSigners: ({ app_sign, sign }) => ({ app_sign: spoiled(app_sign), sign }),
    }),
  },
  oldTimestamp: {
    title: 'a timestamp an hour old',
    means: 'timestampOutsideWindow',
    change: () => ({ age: oldSeconds }),
  },
  otherMethod: {
    title: 'PUT where a read is a GET',
    means: 'wrongMethod',
    change: (request) => ({
      request: { ...request, endpoint: { ...endpointNamed.read, method: 'PUT' } },
    }),
  },
  otherPath: {
    title: 'a path without an operation',
    means: 'noSuchPath',
    change: (request) => ({
      request: {
        ...request,
        endpoint: { ...endpointNamed.read, path: `/api/v1/server/user/${invented}` },
      },
    }),
  },
  unknownParameter: {
    title: 'an unknown parameter',
    means: 'unknownParameter',
    isOptional: true,
    change: withParameter(invented, '1'),
  },
  otherScope: {
    title: 'another scope',
    means: 'scopeNotAccepted',
    isOptional: true,
    change: withParameter('scope', invented),
  },
  usualScope: {
    title: `the scope ${defaultScope}`,
    change: withParameter('scope', defaultScope),
  },
  oneName: { title: 'the info_name mobile', change: withParameter('info_name', 'mobile') },
  noChannel: { title: 'no channel', means: 'missingParameter', change: without('channel') },
  shortTimestamp: {
    title: 'a timestamp of 9 digits',
    means: 'malformedParameter',
    change: shorter('timestamp'),
  },
  futureTimestamp: {
    title: 'a timestamp an hour ahead',
    means: 'timestampOutsideWindow',
    change: () => ({ age: -oldSeconds }),
  },
} as const satisfies Readonly<Record<string, ReadVariant>>;

export type ReadVariantName = keyof typeof readVariants;
export const readVariantNames = Object.keys(readVariants) as ReadVariantName[];

/** A read with these variants together. */
export function readWithVariants(
  read: ProbeRequest,
  names: readonly ReadVariantName[],
): ProbeRequest {
  const { means: _, ...rightRead } = read;
  let asked: ProbeRequest = rightRead;
  for (const name of names) {
    const { change, title, means }: ReadVariant = readVariants[name];
    asked = { ...asked, title, ...(means !== undefined && { means }), ...change(asked.request) };
  }
  return asked;
}

/** A read with a code that was issued, of the whole record or by names. */
export function issuedRead(code: string, infoNames: readonly string[] = []): ProbeRequest {
  const names = infoNames.length === 0 ? {} : { info_name: infoNames.join(',') };
  const title = infoNames.length === 0 ? 'a read of the whole record' : 'a read by names';
  return { title, request: readOf({ code, ...names }, infoNames), isPersonal: true };
}

/** The passback of these values. */
function passback(
  title: string,
  values: Readonly<Record<string, string>>,
  effect: NonNullable<ProbeRequest['effect']>,
): ProbeRequest {
  const request = {
    endpoint: endpointNamed.passback,
    parameters: new Map(Object.entries(values)),
    infoNames: [],
  };
  return { title, request, isPersonal: true, effect };
}

/**
 * The passback of the probe's own key, a number: it is right, and the control of the passbacks
 * below.
 */
export function keyPassback(unionId: string, key: string): ProbeRequest {
  const user_info = `{${JSON.stringify(key)}:${probeNumber}}`;
  return passback('a passback', { union_id: unionId, user_info }, 'writes key');
}

/** The passback that removes the probe's key. */
export function keyRemoval(unionId: string, key: string): ProbeRequest {
  const user_info = JSON.stringify({ [key]: null });
  return passback('a passback of null', { union_id: unionId, user_info }, 'removes key');
}

/**
 * The passbacks that a correct platform refuses. Those that name the user would write the probe's
 * key, or the ID.
 */
export function faultyPassbacks(unionId: string, key: string): ProbeRequest[] {
  const withKey = (value: unknown) => JSON.stringify({ [key]: value });
  const reserved = JSON.stringify({ [reservedKey]: unionId });
  return [
    {
      ...passback(
        'a passback without a user',
        { user_info: withKey('1') },
        'writes key of another user',
      ),
      means: 'userNotNamed',
    },
    {
      ...passback(
        'a primary_key that is not in user_info',
        { primary_key: absentName, user_info: withKey('1') },
        'writes key of another user',
      ),
      means: 'primaryKeyNotInUserInfo',
    },
    {
      ...passback(
        'a user_info of two levels',
        { union_id: unionId, user_info: withKey({ a: 1 }) },
        'writes key',
      ),
      means: 'userInfoNotFlat',
    },
    {
      ...passback(
        'a reserved key in user_info',
        { union_id: unionId, user_info: reserved },
        'writes reserved key',
      ),
      means: 'reservedKey',
    },
  ];
}
