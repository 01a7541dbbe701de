import { type AnswerShape, deviceInfoKeys, locationInfoKeys } from './answer-data.js';
import { type Endpoint, endpoints, formContentType, hasForm, type Parameter } from './endpoints.js';
import { refusalData } from './envelope.js';
import { isObject } from './fields.js';
import { exchangeChatPrefix, specialInfoNames } from './info-names.js';
import { signLength } from './limits.js';
import template from './openapi.json' with { type: 'json' };
import {
  type PlatformRefusal,
  type PlatformResultCodes,
  platformRefusal,
} from './result-code-table.js';
import { entryOf, messageOf, type ResultCode, resultCode, resultCodes } from './result-codes.js';
import { reservedKeys, specialUserInfoKeys } from './user-info.js';
import { basicInfoFields, loginDeviceFields } from './user-record.js';

/** The choices of a platform that the document states. */
export interface DescribedPlatform extends AnswerShape {
  readonly result_codes: PlatformResultCodes | null;
  readonly http_status: 'by-code' | 200;
  readonly scopes: readonly string[] | 'any';
  readonly refusal_data: keyof typeof refusalData;
}

/**
 * The operations as an OpenAPI 3.1 document of a platform: the file openapi.json, filled from the
 * tables of this folder. `servers` is its `servers`.
 */
export function openApiDocument(servers: readonly Json[], platform: DescribedPlatform): Json {
  const codes =
    platform.result_codes === null ? 'the service that comes with userinfo' : 'its platform file';
  const { info } = template;
  return {
    ...template,
    info: {
      ...info,
      description: `${info.description} Codes other than 200 are those of ${codes}.`,
    },
    servers,
    paths: Object.fromEntries(
      endpoints.map((endpoint) => [
        endpoint.path,
        { [endpoint.method.toLowerCase()]: operation(endpoint, platform) },
      ]),
    ),
    components: { schemas: openApiSchemas(platform) },
  };
}

function operation(endpoint: Endpoint, platform: DescribedPlatform): Json {
  const { summary, description } = endpoint;
  const form = endpoint.parameters.filter((parameter) => parameter.in === 'form');
  return {
    operationId: endpoint.operation,
    tags: ['users'],
    summary,
    description,
    parameters: endpoint.parameters
      .filter((parameter) => parameter.in === 'query')
      .map((parameter) => queryParameter(parameter, platform)),
    ...(hasForm(endpoint) && { requestBody: formBody(form) }),
    responses: answers(endpoint, platform),
  };
}

function queryParameter(parameter: Parameter, { chat_prefix, scopes }: DescribedPlatform): Json {
  const { name, required, meaning, isList } = parameter;
  const known: Readonly<Record<string, string>> = {
    info_name: `. Special ones: ${Object.keys(specialInfoNames(chat_prefix)).join(', ')}`,
    scope: scopes === 'any' ? '' : `. The service knows ${scopes.join(', ')}`,
  };
  return {
    name,
    in: 'query',
    required,
    description: meaning + (known[name] ?? ''),
    // Joined by the comma, as a list of OpenAPI in this style is.
    ...(isList && { style: 'form', explode: false, example: ['mobile', 'device_info'] }),
    schema: isList ? { type: 'array', items: text } : valueSchema(parameter),
  };
}

/** §4.2 rule 1: one of the conditional parameters must be present, if there are any. */
function formBody(parameters: readonly Parameter[]): Json {
  const withRequired = (required: Parameter['required']) =>
    parameters.filter((parameter) => parameter.required === required).map(({ name }) => name);
  const properties = parameters.map((parameter) => [
    parameter.name,
    { description: parameter.meaning, ...valueSchema(parameter) },
  ]);
  const anyOf = withRequired('conditional').map((name) => ({ required: [name] }));
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: withRequired(true),
    ...(anyOf.length > 0 && { anyOf }),
  };
  return { required: true, content: { [formContentType]: { schema } } };
}

/** An empty optional parameter is allowed: it counts as not sent. */
function valueSchema({
  name,
  type,
  required,
  length,
  digits,
  default: whenAbsent,
}: Parameter): Json {
  const { min, max } = name === 'sign' ? { min: signLength, max: signLength } : (length ?? {});
  return {
    type,
    ...(type === 'string' && required === true ? { minLength: min ?? 1 } : {}),
    ...(max === undefined ? {} : { maxLength: max }),
    ...(digits === undefined ? {} : { minimum: 10 ** (digits - 1), maximum: 10 ** digits - 1 }),
    ...(whenAbsent === undefined ? {} : { default: whenAbsent }),
    ...(name === 'user_info'
      ? { contentMediaType: 'application/json', contentSchema: schemaRef('UserInfo') }
      : {}),
  };
}

/** The answers of an operation, by their HTTP status: a refusal may have that of a success. */
function answers(endpoint: Endpoint, platform: DescribedPlatform): Json {
  const success = schemaRef(successName(endpoint));
  const byStatus = new Map<number, (PlatformRefusal & { readonly means: ResultCode })[]>([
    [200, []],
  ]);
  for (const code of resultCodes) {
    const { parameter } = entryOf(code);
    const isOther =
      parameter !== undefined && endpoint.parameters.every(({ name }) => name !== parameter);
    if (code === resultCode.ok || isOther) continue;
    const refusal = platformRefusal(code, platform.result_codes, platform.http_status);
    byStatus.set(refusal.httpStatus, [
      ...(byStatus.get(refusal.httpStatus) ?? []),
      { ...refusal, msg: refusal.msg ?? messageOf(code), means: code },
    ]);
  }
  const entries = [...byStatus].map(([status, refusals]) => {
    const codes = [...new Set(refusals.map(({ code }) => code))];
    const failure = { allOf: [schemaRef('Failure'), { properties: { code: { enum: codes } } }] };
    const isSuccess = status === 200;
    const refused = [...new Set(refusals.map(({ code, msg }) => `${code}: ${msg}`))].join('; ');
    const isThrottling = refusals.some(({ means }) => entryOf(means).retry === 'later');
    const [first] = refusals;
    const schema =
      codes.length === 0 ? success : isSuccess ? { anyOf: [success, failure] } : failure;
    const data = refusalData[platform.refusal_data];
    const refusedExample = first && {
      refused: { value: { code: first.code, msg: first.msg, data } },
    };
    return [
      status,
      {
        description: [...(isSuccess ? [entryOf(resultCode.ok).meaning] : []), refused]
          .filter(Boolean)
          .join(' '),
        ...(isThrottling ? { headers: { 'Retry-After': retryAfter } } : {}),
        content: json(schema, {
          ...(isSuccess && examplesOf(endpoint, platform)),
          ...refusedExample,
        }),
      },
    ];
  });
  const hasOthers = [...byStatus.keys()].some((status) => status >= 400 && status < 500);
  const gateway = {
    description: 'Not of the platform, whose refusals are 200, but of a gateway before it',
  };
  return { ...Object.fromEntries(entries), ...(!hasOthers && { '4XX': gateway }) };
}

/** An object without keys, as a schema and as an example. */
const emptyObjects = {
  object: { schemas: [], example: {} },
  list: { schemas: [{ type: 'array', maxItems: 0, items: {} }], example: [] },
  null: { schemas: [{ type: 'null' }], example: null },
} as const;

/** An object, or what the platform writes for one without keys. */
function orEmpty(schema: Json, { empty_object }: DescribedPlatform): Json {
  const { schemas } = emptyObjects[empty_object];
  return schemas.length === 0 ? schema : { anyOf: [schema, ...schemas] };
}

/** The examples of successes, with the names of the platform. */
function examplesOf({ examples }: Endpoint, { chat_prefix }: DescribedPlatform): Json {
  const renamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamed);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        exchangeChatPrefix(name, chat_prefix),
        renamed(member),
      ]),
    );
  };
  return Object.fromEntries(
    Object.entries(examples).map(([name, { data, ...rest }]) => [
      name,
      { ...rest, value: { code: resultCode.ok, msg: 'ok', data: renamed(data) } },
    ]),
  );
}

/** The name of the schema of a success: `ReadSuccess`. */
function successName({ operation }: Endpoint): string {
  return `${operation.charAt(0).toUpperCase()}${operation.slice(1)}Success`;
}

const retryAfter = { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } };

function json(schema: Json, examples: Json): Json {
  return { 'application/json': { schema, examples } };
}

/** A part of an OpenAPI document. */
type Json = { readonly [name: string]: unknown };

/**
 * The shapes of requests and answers, as JSON Schema (OpenAPI 3.1), by name: what the platform
 * chooses is filled in.
 */
function openApiSchemas(platform: DescribedPlatform): Readonly<Record<string, Json>> {
  const { chat_prefix, refusal_data } = platform;
  const { Failure, User, NamedPieces, BasicInfo, ExtensionInfo, LoginDevice, UserInfo } =
    template.components.schemas;
  const value = valueTypes(platform);
  const meanings = specialInfoNames(chat_prefix);
  const described = (names: readonly string[], schema: Json): Json =>
    Object.fromEntries(
      names.map((neutral) => {
        const name = exchangeChatPrefix(neutral, chat_prefix);
        const description = meanings[name];
        return [name, description === undefined ? schema : { ...schema, description }];
      }),
    );
  const { data: anyData, ...withoutData } = Failure.properties;
  const refused =
    refusal_data === 'omit'
      ? withoutData
      : { ...withoutData, data: emptyObjects[refusal_data].schemas[0] ?? anyData };
  return {
    ...Object.fromEntries(
      endpoints.map((endpoint) => [successName(endpoint), success(successData[endpoint.success])]),
    ),
    Failure: { ...Failure, properties: refused, required: Object.keys(refused) },
    User: {
      ...User,
      properties: {
        ...User.properties,
        basic_info: orEmpty(User.properties.basic_info, platform),
        extension_info: orEmpty(User.properties.extension_info, platform),
      },
    },
    NamedPieces: {
      ...NamedPieces,
      properties: {
        ...NamedPieces.properties,
        ...described(Object.keys(specialInfoNames()), value),
        device_info: encodedObjects(deviceInfoKeys, meanings.device_info, platform),
        location_info: encodedObjects(locationInfoKeys, meanings.location_info, platform),
      },
    },
    BasicInfo: { ...BasicInfo, properties: described(basicInfoFields, value) },
    ExtensionInfo: { ...ExtensionInfo, additionalProperties: value },
    LoginDevice: { ...LoginDevice, properties: described(loginDeviceFields, text) },
    UserInfo: {
      ...UserInfo,
      description: `${UserInfo.description} ${specialKeys}`,
      propertyNames: { minLength: 1, not: { enum: reservedKeys } },
    },
  };
}

function schemaRef(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

const text = { type: 'string' } as const;
const specialKeys = Object.entries(specialUserInfoKeys)
  .map(([key, meaning]) => `\`${key}\` (${meaning})`)
  .join(', ');

/** `data` of a success, by what it holds. */
const successData: Readonly<Record<Endpoint['success'], Json>> = {
  information: { anyOf: [schemaRef('User'), schemaRef('NamedPieces')] },
  union_id: object(template.components.schemas.NamedPieces.properties, ['union_id']),
};

function success(data: Json): Json {
  return object({ code: { const: resultCode.ok }, msg: text, data }, ['code', 'msg', 'data']);
}

function object(properties: Json, required: readonly string[]): Json {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The type of a value that was stored or passed back. */
function valueTypes({ absent, values }: DescribedPlatform): Json {
  const types = ['string', ...(values === 'text' ? [] : ['number', 'boolean'])];
  const all = absent === 'null' ? [...types, 'null'] : types;
  return all.length === 1 ? text : { type: all };
}

/** §4.1 shape rule 3: strings that hold an object each. */
function encodedObjects(
  keys: readonly string[],
  description: string | undefined,
  { absent }: DescribedPlatform,
): Json {
  const properties = Object.fromEntries(keys.map((key) => [key, text]));
  const contentSchema = { type: 'object', properties, required: keys };
  const list = {
    type: 'array',
    items: { ...text, contentMediaType: 'application/json', contentSchema },
  };
  if (absent === 'omit') return { ...list, description };
  // Without authorization.
  return { anyOf: [list, absent === 'null' ? { type: 'null' } : { const: '' }], description };
}
