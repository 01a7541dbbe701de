import { randomLength, signLength, timestampDigits } from './limits.js';

/** One row of a parameter table of §4. */
export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'form';
  readonly type: 'string' | 'integer';
  /** "conditional" parameters depend on each other: see `checkPassback`. */
  readonly required: boolean | 'conditional';
  /** The value that the service assumes if the parameter is not sent. */
  readonly default?: string;
  readonly meaning: string;
  /** Minimum and maximum length, in characters (§8). */
  readonly length?: { readonly min: number; readonly max: number };
  /** A whole number of exactly this many digits (§8). */
  readonly digits?: number;
  /** A list of at least one name, separated by commas. */
  readonly isList?: true;
}

/** An operation of §4. */
export interface Endpoint {
  readonly operation: 'read' | 'passback';
  readonly method: 'GET' | 'PUT';
  /** Appended to the base URL. */
  readonly path: string;
  /** In the order of the spec's tables, in which they are sent. */
  readonly parameters: readonly Parameter[];
}

/** §4.1: the default of `scope`. The document lists no other authorization type; a platform may support more. */
export const defaultScope = 'get_user_info';

/** §4.2: the encoding of a passback's body. */
export const formContentType = 'application/x-www-form-urlencoded';

function query(name: string, meaning: string, rest: Partial<Parameter> = {}): Parameter {
  return { name, in: 'query', type: 'string', required: true, meaning, ...rest };
}

function form(name: string, meaning: string, required: Parameter['required']): Parameter {
  return { name, in: 'form', type: 'string', required, meaning };
}

const application = [
  query('tenant_code', 'Tenant code'),
  query('app_key', 'Key of the server application'),
  query('app_sign', 'Application signature'),
  query('channel', 'Channel code, assigned by the platform'),
];

const signature = [
  query('random', 'Random string', { length: randomLength }),
  query('timestamp', 'Unix time of the request in seconds', { type: 'integer', digits: timestampDigits }),
  query('sign', `Data signature, length ${signLength}; a recipe other than the default may yield another`),
];

/** §4.1 */
export const readEndpoint: Endpoint = {
  operation: 'read',
  method: 'GET',
  path: '/api/v1/server/user/user_info_for_third',
  parameters: [
    ...application,
    query('code', 'Authorization code'),
    query('scope', 'Authorization type', { required: false, default: defaultScope }),
    ...signature,
    query('info_name', 'Names of the wanted pieces of information, joined by the ASCII comma', {
      required: false,
      isList: true,
    }),
  ],
};

/** §4.2 */
export const passbackEndpoint: Endpoint = {
  operation: 'passback',
  method: 'PUT',
  path: '/api/v1/server/user/passback_user_info',
  parameters: [
    ...application,
    ...signature,
    form('union_id', 'User ID; takes priority where primary_key is sent too', 'conditional'),
    form('primary_key', 'Name of the key inside user_info that uniquely identifies the user', 'conditional'),
    form('user_info', 'A JSON-encoded object of key/value pairs, one level only', true),
  ],
};

export const endpoints: readonly Endpoint[] = [readEndpoint, passbackEndpoint];
