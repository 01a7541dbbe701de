import { defaultScope, type Endpoint, endpoints, formContentType, type Parameter } from './endpoints.js';
import { specialInfoNames } from './info-names.js';
import { signLength } from './limits.js';
import {
  entryOf,
  httpStatusOf,
  messageOf,
  type ResultCode,
  resultCode,
  resultCodes,
} from './result-codes.js';
import { reservedKeys, specialUserInfoKeys } from './user-info.js';
import { basicInfoFields, deviceInfoKeys, locationInfoKeys, loginDeviceFields } from './user-record.js';

/** The version in the paths (§9). */
const apiVersion = 'v1';

/**
 * The two operations as an OpenAPI 3.1 document, generated from the tables of this folder. `servers` is its
 * `servers`.
 */
export function openApiDocument(servers: readonly Json[], _platform: unknown): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'User-information exchange service',
      version: apiVersion,
      description:
        'Reads the information record of a user of a tenant, and passes information about a user back. ' +
        "Called from an application's server only. Every request is signed by `app_sign` and `sign`; how these are " +
        "computed is agreed with the platform's operator. Codes other than 200 are those of the service that comes " +
        'with userinfo.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers,
    // The signatures are parameters: OpenAPI has no security scheme for them.
    security: [],
    paths: Object.fromEntries(
      endpoints.map((endpoint) => [endpoint.path, { [endpoint.method.toLowerCase()]: operation(endpoint) }]),
    ),
    components: { schemas: openApiSchemas() },
  };
}

const texts = {
  read: {
    summary: 'Read user information',
    description: 'Reads the user that an authorization code was issued to.',
    success: schemaRef('ReadSuccess'),
  },
  passback: {
    summary: 'Pass back user information',
    description: 'Writes key/value pairs about a user, who is named by `union_id` or by one of the pairs.',
    success: schemaRef('PassbackSuccess'),
  },
} as const;

function operation(endpoint: Endpoint): Json {
  const { summary, description, success } = texts[endpoint.operation];
  const form = endpoint.parameters.filter((parameter) => parameter.in === 'form');
  return {
    operationId: endpoint.operation,
    summary,
    description,
    parameters: endpoint.parameters.filter((parameter) => parameter.in === 'query').map(queryParameter),
    ...(form.length === 0 ? {} : { requestBody: formBody(form) }),
    responses: {
      200: { description: entryOf(resultCode.ok).meaning, content: json(success) },
      ...failures(endpoint.operation),
    },
  };
}

function queryParameter(parameter: Parameter): Json {
  const { name, required, meaning } = parameter;
  const known: Readonly<Record<string, string>> = {
    info_name: `. Special ones: ${Object.keys(specialInfoNames()).join(', ')}`,
    scope: `. The service that comes with userinfo knows ${defaultScope} alone`,
  };
  return {
    name,
    in: 'query',
    required,
    description: meaning + (known[name] ?? ''),
    schema: valueSchema(parameter),
  };
}

/** §4.2 rule 1: one of the conditional parameters must be present. */
function formBody(parameters: readonly Parameter[]): Json {
  const withRequired = (required: Parameter['required']) =>
    parameters.filter((parameter) => parameter.required === required).map(({ name }) => name);
  const properties = parameters.map((parameter) => [
    parameter.name,
    { description: parameter.meaning, ...valueSchema(parameter) },
  ]);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: withRequired(true),
    anyOf: withRequired('conditional').map((name) => ({ required: [name] })),
  };
  return { required: true, content: { [formContentType]: { schema } } };
}

/** An empty optional parameter is allowed: it counts as not sent. */
function valueSchema({ name, type, required, length, digits, default: whenAbsent }: Parameter): Json {
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

/** The refusals of an operation, by their HTTP status. */
function failures(operation: Endpoint['operation']): Json {
  const byStatus = new Map<number, ResultCode[]>();
  for (const code of resultCodes) {
    const { operations = [operation] } = entryOf(code);
    if (code === resultCode.ok || !operations.includes(operation)) continue;
    const status = httpStatusOf(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries([...byStatus].map(([status, codes]) => [status, failure(codes)]));
}

function failure(codes: readonly ResultCode[]): Json {
  const schema = { allOf: [schemaRef('Failure'), { properties: { code: { enum: codes } } }] };
  const isThrottling = codes.includes(resultCode.tooManyRequests);
  return {
    description: codes.map((code) => `${code}: ${messageOf(code)}`).join('; '),
    ...(isThrottling ? { headers: { 'Retry-After': retryAfter } } : {}),
    content: json(schema),
  };
}

const retryAfter = { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } };

function json(schema: Json): Json {
  return { 'application/json': { schema } };
}

/** A part of an OpenAPI document. */
type Json = { readonly [name: string]: unknown };

/** The shapes of requests and answers, as JSON Schema (OpenAPI 3.1), by name. */
function openApiSchemas(): Readonly<Record<string, Json>> {
  return {
    ReadSuccess: success({ anyOf: [schemaRef('User'), schemaRef('NamedPieces')] }),
    PassbackSuccess: success(object({ union_id: userId }, ['union_id'])),
    Failure: {
      description: 'What every refusal is answered with',
      ...object({ code: { type: 'integer' }, msg: text, data: { type: 'object' } }, ['code', 'msg', 'data']),
    },
    User: {
      description: 'Without `info_name`',
      ...object(
        {
          union_id: userId,
          basic_info: schemaRef('BasicInfo'),
          extension_info: schemaRef('ExtensionInfo'),
          login_device_info: { type: 'array', items: schemaRef('LoginDevice') },
        },
        ['union_id', 'basic_info', 'extension_info', 'login_device_info'],
      ),
    },
    NamedPieces: {
      description: 'With `info_name`: one key for each requested name that there is a value for',
      type: 'object',
      properties: {
        union_id: userId,
        ...describedTexts(Object.keys(specialInfoNames())),
        device_info: encodedObjects('device_info', deviceInfoKeys),
        location_info: encodedObjects('location_info', locationInfoKeys),
      },
      required: ['union_id'],
      additionalProperties: text,
    },
    BasicInfo: object(describedTexts(basicInfoFields), []),
    ExtensionInfo: {
      description: "Keys that the tenant's applications passed back",
      type: 'object',
      additionalProperties: text,
    },
    LoginDevice: object(describedTexts(loginDeviceFields), []),
    UserInfo: {
      description: 'One level of key/value pairs',
      type: 'object',
      minProperties: 1,
      propertyNames: { minLength: 1, not: { enum: reservedKeys } },
      properties: Object.fromEntries(
        Object.entries(specialUserInfoKeys).map(([key, description]) => [key, { ...scalar, description }]),
      ),
      additionalProperties: scalar,
    },
  };
}

function schemaRef(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

const text = { type: 'string' } as const;
const userId = { ...text, description: 'User ID' } as const;
/** A value that `user_info` can hold. */
const scalar = { type: ['string', 'number', 'boolean', 'null'] } as const;

function success(data: Json): Json {
  return object({ code: { const: resultCode.ok }, msg: text, data }, ['code', 'msg', 'data']);
}

function object(properties: Json, required: readonly string[]): Json {
  return { type: 'object', properties, required, additionalProperties: false };
}

function describedTexts(names: readonly string[]): Json {
  return Object.fromEntries(
    names.map((name) => {
      const description = specialInfoNames()[name];
      return [name, description === undefined ? text : { ...text, description }];
    }),
  );
}

/** §4.1 shape rule 3: strings that hold an object each. */
function encodedObjects(name: string, keys: readonly string[]): Json {
  const contentSchema = { type: 'object', properties: describedTexts(keys), required: keys };
  return {
    type: 'array',
    description: specialInfoNames()[name],
    items: { ...text, contentMediaType: 'application/json', contentSchema },
  };
}
