import { specialInfoNames } from './info-names.js';
import { deviceInfoKeys, locationInfoKeys } from './read-data.js';
import { resultCode } from './result-codes.js';
import { reservedKeys, specialUserInfoKeys } from './user-info.js';
import { basicInfoFields, loginDeviceFields } from './user-record.js';

/** A part of an OpenAPI document. */
export type Json = { readonly [name: string]: unknown };

/** The shapes of requests and answers, as JSON Schema (OpenAPI 3.1), by name. */
export function openApiSchemas(): Readonly<Record<string, Json>> {
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
        ...describedTexts(Object.keys(specialInfoNames)),
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

export function schemaRef(name: string): Json {
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
      const description = specialInfoNames[name];
      return [name, description === undefined ? text : { ...text, description }];
    }),
  );
}

/** §4.1 shape rule 3: strings that hold an object each. */
function encodedObjects(name: string, keys: readonly string[]): Json {
  const contentSchema = { type: 'object', properties: describedTexts(keys), required: keys };
  return {
    type: 'array',
    description: specialInfoNames[name],
    items: { ...text, contentMediaType: 'application/json', contentSchema },
  };
}
