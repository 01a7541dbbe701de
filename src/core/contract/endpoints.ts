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

/**
 * The facts of an operation of §4: what the client, the commands, the service and the documents
 * know of it.
 */
interface EndpointFacts {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Appended to the base URL. */
  readonly path: string;
  /** The section of the spec. */
  readonly section: string;
  readonly summary: string;
  readonly description: string;
  /** In the order of the spec's tables, in which they are sent. */
  readonly parameters: readonly Parameter[];
  /** Whether it changes records: before it does so in production, the command line asks. */
  readonly writes: boolean;
  /** Whether it may be carried out twice: it is sent again also if it may have been carried out. */
  readonly repeatable: boolean;
  /** The next step if it is not known whether it was carried out. */
  readonly doubt: string;
  /** What `data` of a success holds: information of the user, or the ID of the user alone. */
  readonly success: 'information' | 'union_id';
  /** `data` of successes by a name for each, with the neutral names of §2.2. */
  readonly examples: Readonly<Record<string, { readonly summary?: string; readonly data: object }>>;
}

/**
 * §4.1: the default of `scope`. The document lists no other authorization type; a platform may
 * support more.
 */
export const defaultScope = 'get_user_info';

/** §4.2: the encoding of a passback's body. */
export const formContentType = 'application/x-www-form-urlencoded';

/** A parameter whose name the compiler knows. */
type Named<Name extends string> = Parameter & { readonly name: Name };

function query<Name extends string>(
  name: Name,
  meaning: string,
  rest: Partial<Omit<Parameter, 'name'>> = {},
): Named<Name> {
  return { name, in: 'query', type: 'string', required: true, meaning, ...rest };
}

function form<Name extends string>(
  name: Name,
  meaning: string,
  required: Parameter['required'],
): Named<Name> {
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
  query('timestamp', 'Unix time of the request in seconds', {
    type: 'integer',
    digits: timestampDigits,
  }),
  query(
    'sign',
    `Data signature, length ${signLength}; a recipe other than the default may yield another`,
  ),
];

/** The operations, by their names. */
const table = {
  read: {
    method: 'GET',
    path: '/api/v1/server/user/user_info_for_third',
    section: '§4.1',
    summary: 'Read user information',
    description: 'Reads the user that an authorization code was issued to.',
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
    writes: false,
    repeatable: false,
    doubt: 'Whether the code was used is not known: if it is refused now, have a new one issued.',
    success: 'information',
    examples: {
      whole: {
        summary: 'Without info_name',
        data: {
          union_id: 'u001',
          basic_info: { mobile: '13800138000', chat_nickname: '张三' },
          extension_info: { acme_level: 'gold' },
          login_device_info: [{ brand: 'acme', os: 'linux', device_token: 't1' }],
        },
      },
      named: {
        summary: 'With info_name',
        data: { union_id: 'u001', mobile: '13800138000', acme_level: 'gold' },
      },
    },
  },
  passback: {
    method: 'PUT',
    path: '/api/v1/server/user/passback_user_info',
    section: '§4.2',
    summary: 'Pass back user information',
    description:
      'Writes key/value pairs about a user, who is named by `union_id` or by one of the pairs.',
    parameters: [
      ...application,
      ...signature,
      form('union_id', 'User ID; takes priority where primary_key is sent too', 'conditional'),
      form(
        'primary_key',
        'Name of the key inside user_info that uniquely identifies the user',
        'conditional',
      ),
      form('user_info', 'A JSON-encoded object of key/value pairs, one level only', true),
    ],
    writes: true,
    repeatable: true,
    doubt:
      'Whether the request was carried out is not known. Try again: writing the same values twice changes nothing.',
    success: 'union_id',
    examples: { written: { data: { union_id: 'u001' } } },
  },
} satisfies Readonly<Record<string, EndpointFacts>>;

/** The name of an operation of §4. */
export type OperationName = keyof typeof table;

/** The name of a parameter of any operation. */
export type ParameterName = (typeof table)[OperationName]['parameters'][number]['name'];

/** The name of a parameter that not every operation has. */
export type OwnParameterName = Exclude<
  ParameterName,
  (typeof application | typeof signature)[number]['name']
>;

/** An operation of §4. */
export interface Endpoint extends EndpointFacts {
  readonly operation: OperationName;
}

const names = Object.keys(table) as OperationName[];

/** The operations of §4, in its order. */
export const endpoints: readonly Endpoint[] = names.map((operation) => ({
  operation,
  ...table[operation],
}));

/** The operations by their names. */
export const endpointNamed = Object.fromEntries(
  endpoints.map((endpoint) => [endpoint.operation, endpoint]),
) as Readonly<Record<OperationName, Endpoint>>;

/** The names of the parameters that are sent in a form (§4.2). */
export const formNames: ReadonlySet<string> = new Set(
  endpoints.flatMap(({ parameters }) =>
    parameters.filter((parameter) => parameter.in === 'form').map(({ name }) => name),
  ),
);

/** Whether an operation takes an authorization code. */
export function hasCode({ parameters }: Pick<Endpoint, 'parameters'>): boolean {
  return parameters.some(({ name }) => name === 'code');
}

/** Whether an operation has a body: a form. */
export function hasForm({ parameters }: Pick<Endpoint, 'parameters'>): boolean {
  return parameters.some((parameter) => parameter.in === 'form');
}
