import { defaultScope, type Endpoint, endpoints, formContentType, type Parameter } from './endpoints.js';
import { specialInfoNames } from './info-names.js';
import { signLength } from './limits.js';
import { type Json, openApiSchemas, schemaRef } from './openapi-schemas.js';
import { resultCodeTexts } from './result-code-texts.js';
import { httpStatusOf, type ResultCode, resultCode, resultCodes } from './result-codes.js';

/** The version in the paths (§9). */
const apiVersion = 'v1';

/**
 * The two operations as an OpenAPI 3.1 document, written from the tables of this folder. `servers` says where they
 * are, as OpenAPI wants it.
 */
export function openApiDocument(servers: readonly Json[]): Json {
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
    // The signatures are parameters: OpenAPI has no scheme for them.
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
      200: { description: resultCodeTexts[resultCode.ok].meaning, content: json(success) },
      ...failures(endpoint.operation),
    },
  };
}

function queryParameter(parameter: Parameter): Json {
  const { name, required, meaning } = parameter;
  const known: Readonly<Record<string, string>> = {
    info_name: `. Special ones: ${Object.keys(specialInfoNames).join(', ')}`,
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

/** §4.2 rule 1: one of the parameters that depend on each other must be there. */
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

/** An optional parameter may be empty: that counts as not sent. */
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
    const { operations = [operation] } = resultCodeTexts[code];
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
    description: codes.map((code) => `${code}: ${resultCodeTexts[code].msg}`).join('; '),
    ...(isThrottling ? { headers: { 'Retry-After': retryAfter } } : {}),
    content: json(schema),
  };
}

const retryAfter = { description: 'Seconds to wait', schema: { type: 'integer', minimum: 1 } };

function json(schema: Json): Json {
  return { 'application/json': { schema } };
}
