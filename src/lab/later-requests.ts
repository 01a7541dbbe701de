import {
  endpointNamed,
  endpoints,
  hasForm,
  type OperationName,
} from '../core/contract/endpoints.js';
import { forAppSign, type SignatureName } from '../core/signing/app-signatures.js';
import {
  type Param,
  type Place,
  paramOf,
  queryOf,
  type SignableRequest,
} from '../core/signing/request.js';
import { commonNames } from './parameter-names.js';

/** Values that encoders write differently. */
const special = "a b+c*d~e!f'(g)h/é中";

/**
 * The requests of each operation that userinfo may send later, by what they have: their parameters
 * besides those that every request has.
 */
const laterValues = {
  read: {
    read: { code: 'c0ffee01' },
    'read by names': { code: 'c0ffee02', info_name: 'mobile,id_card' },
    'read with scope': { code: 'c0ffee03', scope: 'get_user_info' },
    'read by names with scope': {
      code: 'c0ffee04',
      scope: 'get_user_info',
      info_name: 'chat_sex,device_info',
    },
    'read with special characters': { code: special, info_name: `b,${special}` },
  },
  passback: {
    'passback by user': {
      union_id: 'u00017',
      user_info: '{"mobile":"13800138000","acme_level":"gold"}',
    },
    'passback by key': { primary_key: 'mobile', user_info: '{"mobile":"13900139000"}' },
    'passback by both': {
      union_id: 'u00018',
      primary_key: 'mobile',
      user_info: '{"mobile":"13700137000"}',
    },
    'passback with special characters': {
      union_id: special,
      user_info: `{"acme_note":"${special}"}`,
    },
  },
} as const satisfies Readonly<Record<OperationName, Readonly<Record<string, Values>>>>;

type Values = Readonly<Record<string, string>>;

/**
 * A request that userinfo may send later, by what it has: rules are told apart by how they sign it.
 */
export type LaterKind = {
  [Name in OperationName]: keyof (typeof laterValues)[Name];
}[OperationName];

export interface LaterRequest {
  readonly kind: LaterKind;
  readonly request: SignableRequest;
}

/** Later requests of the app that signed a request, to the same deployment. */
export function laterRequests(signature: SignatureName, like: SignableRequest): LaterRequest[] {
  const kinds = endpoints.flatMap(({ operation }) =>
    (Object.entries(laterValues[operation]) as [LaterKind, Values][]).map(([kind, values]) => ({
      operation,
      kind,
      values,
    })),
  );
  return kinds.map(({ operation, kind, values }, index) => {
    const request = contractRequest(operation, like, { ...momentOf(index), ...values });
    return { kind, request: signature === 'sign' ? request : forAppSign(request) };
  });
}

/** Values that differ in each request: sorted by value, they stand in other places. */
function momentOf(index: number): Readonly<Record<string, string>> {
  return {
    app_sign: `${(index * 7) % 10}b5ac97d2e1f40368b5ac97d2e1f40${300 + index}`,
    random: `${'qZ5a'[index % 4]}r4nd0m${index}Xy`,
    timestamp: String(1_700_000_000 + index * 1111),
  };
}

/**
 * A request of the contract (§4) as userinfo sends it, for the app and the deployment of another
 * one: the parameters in the order of the table, an unknown one after those of the query. `sign`
 * is not among them.
 */
export function contractRequest(
  operation: OperationName,
  like: SignableRequest,
  values: Values,
): SignableRequest {
  const { method, path, parameters } = endpointNamed[operation];
  const common = commonNames.map((name) => [name, paramOf(like, name)] as const);
  const all = new Map<string, string>();
  for (const [name, value] of [...common, ...Object.entries(values)])
    if (value !== undefined) all.set(name, value);
  const names = parameters.map(({ name }) => name);
  const isUnknown = (name: string) => !names.includes(name);
  const inPlace = (place: Place) =>
    parameters.flatMap((parameter) =>
      parameter.in === place && all.has(parameter.name) ? [parameter.name] : [],
    );
  const paramsOf = (list: readonly string[], place: Place) =>
    list.map(
      (name): Param =>
        place === 'form' ? [name, all.get(name) ?? '', 'form'] : [name, all.get(name) ?? ''],
    );
  const query = paramsOf([...inPlace('query'), ...[...all.keys()].filter(isUnknown)], 'query');
  const form = paramsOf(inPlace('form'), 'form');
  return {
    method,
    url: baseUrlOf(like.url) + path,
    query: queryOf(query),
    params: [...query, ...form],
    body: hasForm(endpointNamed[operation]) ? queryOf(form) : null,
  };
}

/** The part of an address that comes before the path of an operation. */
function baseUrlOf(url: string): string {
  const path = endpoints.find((endpoint) => url.endsWith(endpoint.path))?.path ?? '';
  return path === '' ? url.replace(/^(\w+:\/\/[^/]*).*$/s, '$1') : url.slice(0, -path.length);
}
