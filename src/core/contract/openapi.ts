import { isObject } from '../support/json.js';
import { withoutUndefined } from '../support/without-undefined.js';
import { type AnswerShape, deviceKeys } from './answer-data.js';
import { type Endpoint, endpoints, formContentType, hasForm, type Parameter } from './endpoints.js';
import { refusalData } from './envelope.js';
import { infoNamesOf, specialInfoNames, swapChatPrefix } from './info-names.js';
import { signLength } from './limits.js';
import template from './openapi.json' with { type: 'json' };
import {
  type PlatformRefusal,
  type PlatformResultCodes,
  platformRefusal,
} from './result-code-table.js';
import {
  defaultMsg,
  type ResultCode,
  resultCode,
  resultCodeEntry,
  resultCodes,
} from './result-codes.js';
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
  return withoutUndefined({
    operationId: endpoint.operation,
    tags: ['users'],
    summary,
    description,
    parameters: endpoint.parameters
      .filter((parameter) => parameter.in === 'query')
      .map((parameter) => queryParameter(parameter, platform)),
    requestBody: hasForm(endpoint) ? formBody(form) : undefined,
    responses: responses(endpoint, platform),
  });
}

function queryParameter(parameter: Parameter, { chat_prefix, scopes }: DescribedPlatform): Json {
  const { name, required, meaning, isList } = parameter;
  const described = { name, in: 'query', required, description: description() };
  if (!isList) return { ...described, schema: valueSchema(parameter) };
  return {
    ...described,
    // Joined by the comma, as a list of OpenAPI in this style is.
    style: 'form',
    explode: false,
    example: ['mobile', 'device_info'],
    schema: { type: 'array', items: text },
  };

  function description(): string {
    if (name === 'info_name')
      return `${meaning}. Special ones: ${Object.keys(specialInfoNames(chat_prefix)).join(', ')}`;
    if (name === 'scope' && scopes !== 'any')
      return `${meaning}. The service knows ${scopes.join(', ')}`;
    return meaning;
  }
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
  const schema = withoutUndefined({
    type: 'object',
    properties: Object.fromEntries(properties),
    required: withRequired(true),
    anyOf: anyOf.length > 0 ? anyOf : undefined,
  });
  return { required: true, content: { [formContentType]: { schema } } };
}

/** An empty optional parameter is allowed: it counts as not sent. */
function valueSchema(parameter: Parameter): Json {
  const { name, type, required, digits, default: assumed } = parameter;
  const { min = 1, max } = lengthOf(parameter);
  const schema = withoutUndefined({
    type,
    minLength: type === 'string' && required === true ? min : undefined,
    maxLength: max,
    minimum: digits && 10 ** (digits - 1),
    maximum: digits && 10 ** digits - 1,
    default: assumed,
  });
  if (name !== 'user_info') return schema;
  return {
    ...schema,
    contentMediaType: 'application/json',
    contentSchema: schemaRef('UserInfo'),
  };
}

function lengthOf({ name, length }: Parameter): { readonly min?: number; readonly max?: number } {
  if (name === 'sign') return { min: signLength, max: signLength };
  return length ?? {};
}

/** A refusal that is described, and the code of this project that it stands for. */
interface DescribedRefusal extends PlatformRefusal {
  readonly msg: string;
  readonly means: ResultCode;
}

/** The answers of an operation, by their HTTP status: a refusal may have that of a success. */
function responses(endpoint: Endpoint, platform: DescribedPlatform): Json {
  const byStatus = new Map<number, DescribedRefusal[]>([[200, []]]);
  for (const refusal of refusalsOf(endpoint, platform)) {
    const refusals = byStatus.get(refusal.httpStatus) ?? [];
    byStatus.set(refusal.httpStatus, [...refusals, refusal]);
  }
  const described = [...byStatus].map(([status, refusals]) => [
    status,
    response(status, refusals, endpoint, platform),
  ]);
  const isAnyOfClient = [...byStatus.keys()].some((status) => status >= 400 && status < 500);
  if (isAnyOfClient) return Object.fromEntries(described);
  const gateway = {
    description: 'Not of the platform, whose refusals are 200, but of a gateway before it',
  };
  return { ...Object.fromEntries(described), '4XX': gateway };
}

/** The refusals that a platform can answer an operation with. */
function refusalsOf(endpoint: Endpoint, platform: DescribedPlatform): DescribedRefusal[] {
  const isOf = (code: ResultCode) => {
    const { parameter } = resultCodeEntry(code);
    return parameter === undefined || endpoint.parameters.some(({ name }) => name === parameter);
  };
  return resultCodes
    .filter((code) => code !== resultCode.ok && isOf(code))
    .map((code) => {
      const refusal = platformRefusal(code, platform.result_codes, platform.http_status);
      return { ...refusal, msg: refusal.msg ?? defaultMsg(code), means: code };
    });
}

/** The answers with one HTTP status: a success if it is 200, and these refusals. */
function response(
  status: number,
  refusals: readonly DescribedRefusal[],
  endpoint: Endpoint,
  platform: DescribedPlatform,
): Json {
  const isSuccess = status === 200;
  const meanings = new Set(refusals.map(({ code, msg }) => `${code}: ${msg}`));
  const sentences = [[...meanings].join('; ')];
  if (isSuccess) sentences.unshift(resultCodeEntry(resultCode.ok).meaning);
  const isThrottling = refusals.some(({ means }) => resultCodeEntry(means).retry === 'later');
  const [first] = refusals;
  const examples: Record<string, unknown> = {};
  if (isSuccess) Object.assign(examples, examplesOf(endpoint, platform));
  if (first !== undefined) {
    const data = refusalData[platform.refusal_data];
    examples.refused = { value: { code: first.code, msg: first.msg, data } };
  }
  return withoutUndefined({
    description: sentences.filter(Boolean).join(' '),
    headers: isThrottling ? { 'Retry-After': retryAfter } : undefined,
    content: json(responseSchema(isSuccess, refusals, endpoint), examples),
  });
}

function responseSchema(
  isSuccess: boolean,
  refusals: readonly DescribedRefusal[],
  endpoint: Endpoint,
): Json {
  const success = schemaRef(successName(endpoint));
  if (refusals.length === 0) return success;
  const codes = [...new Set(refusals.map(({ code }) => code))];
  const failure = { allOf: [schemaRef('Failure'), { properties: { code: { enum: codes } } }] };
  if (!isSuccess) return failure;
  return { anyOf: [success, failure] };
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
  if (schemas.length === 0) return schema;
  return { anyOf: [schema, ...schemas] };
}

/** The examples of successes, with the names of the platform. */
function examplesOf({ examples }: Endpoint, { chat_prefix }: DescribedPlatform): Json {
  const renamed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(renamed);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        swapChatPrefix(name, chat_prefix),
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
        const name = swapChatPrefix(neutral, chat_prefix);
        return [name, withoutUndefined({ ...schema, description: meanings[name] })];
      }),
    );
  const { data: anyData, ...withoutData } = Failure.properties;
  const refused: Record<string, unknown> = { ...withoutData };
  if (refusal_data !== 'omit') refused.data = emptyObjects[refusal_data].schemas[0] ?? anyData;
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
        ...Object.fromEntries(
          infoNamesOf('login_device_info').map((name) => [
            name,
            encodedObjects(deviceKeys[name], meanings[name], platform),
          ]),
        ),
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
  const types = ['string'];
  if (values !== 'text') types.push('number', 'boolean');
  if (absent === 'null') types.push('null');
  if (types.length === 1) return text;
  return { type: types };
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
  const unauthorized = absent === 'null' ? { type: 'null' } : { const: '' };
  return { anyOf: [list, unauthorized], description };
}
