import { jsonValueOf } from '../support/json.js';
import type { ParameterName } from './endpoints.js';
import { InvalidInputError } from './errors.js';
import { personalInfoNames, type SpecialInfoName, withoutChatPrefix } from './info-names.js';
import { jsonTokens } from './json-tokens.js';
import { formatFlatJson, parseUserInfo, type SpecialUserInfoKey } from './user-info.js';
import type { LoginDevice } from './user-record.js';

/** The form of names of parameters, keys and paths, which values in the wrong place do not have. */
const plainName = /^[A-Za-z_~][\w.~-]{0,39}$/;

/**
 * Maximum number of digits in a name: phone numbers, identity cards, coordinates and codes have
 * more.
 */
const maxDigits = 5;

const maxSegments = 8;

/** Whether a text in the place of a name is rather a value, as in a file without a header. */
export function mayBeValue(name: string): boolean {
  return name.includes('@') || (name.match(/\d/g)?.length ?? 0) > maxDigits;
}

/** A name that a user gave, as a preview shows it to the same user: masked if it may be a value. */
export function maskGivenName(name: string): string {
  return mayBeValue(name) ? '****' : name;
}

/** A received name for a log: masked unless it looks like a name. */
export function maskName(name: string): string {
  if (plainName.test(name) && !mayBeValue(name)) return name;
  return '****';
}

/** A message as a log may show it: the names that `quoteName` put into it were received. */
export function maskQuotedNames(message: string): string {
  return message.replace(/"((?:[^"\\]|\\.)*)"/g, (_, name: string) => `"${maskName(name)}"`);
}

/**
 * A path that was received, as a log may show it: each of its names by itself, and not too many.
 */
export function maskPath(path: string): string {
  const segments = path.split('/', maxSegments);
  return segments.map((segment) => segment && maskName(segment)).join('/');
}

/** A field of a login device (§2.3) or a key of a passback (§4.2) that is no info name. */
type OtherName = Exclude<keyof LoginDevice | SpecialUserInfoKey, SpecialInfoName>;

/** Whether values of these names are personal data. */
const otherNames: Readonly<Record<OtherName, boolean>> = {
  brand: false,
  os: false,
  os_version: false,
  network: false,
  device_token: true,
  uuid: true,
  country: false,
  province: false,
  city: false,
  gps: true,
};

/** Names whose values are personal data, masked wherever they would be logged. */
const personalNames: ReadonlySet<string> = new Set([
  ...personalInfoNames,
  ...(Object.keys(otherNames) as OtherName[]).filter((name) => otherNames[name]),
]);

/** The same with any prefix: that of a tenant, or that of the chat platform (§2.2). */
const anyPersonalName = new RegExp(
  `_(?:${Array.from(personalNames, withoutChatPrefix).join('|')})$`,
);

/**
 * Whether values of this name are personal data, also with a tenant's prefix, such as
 * `acme_mobile`.
 */
export function isPersonalName(name: string): boolean {
  return personalNames.has(name) || anyPersonalName.test(name);
}

/**
 * Masks the middle of a value: `138****1234`. A value shorter than a mobile number is masked whole.
 */
export function maskText(text: string): string {
  const characters = [...text];
  if (characters.length < 11) return '****';
  return `${characters.slice(0, 3).join('')}****${characters.slice(-4).join('')}`;
}

/** What a log shows of a parameter: its value, the ends of its value, or the keys of its object. */
type Shown = 'value' | 'ends' | 'keys';

const parameters: Readonly<Record<ParameterName, Shown>> = {
  tenant_code: 'value',
  app_key: 'value',
  app_sign: 'ends',
  channel: 'value',
  code: 'ends',
  scope: 'value',
  random: 'value',
  timestamp: 'value',
  sign: 'ends',
  info_name: 'value',
  union_id: 'value',
  primary_key: 'value',
  user_info: 'keys',
};

const shownOf: ReadonlyMap<string, Shown> = new Map(Object.entries(parameters));

/** What a log shows of a value by its name, which may be no parameter. */
function shownOfName(name: string): Shown {
  return isPersonalName(name) ? 'ends' : (shownOf.get(name) ?? 'value');
}

/** An address of electronic mail. The limit keeps the search linear in a long text. */
const mailAddress = /[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+/g;

/**
 * Masks what may be personal in a text without structure: long numbers, addresses of electronic
 * mail, and the parameters of a request's URL.
 */
export function maskWords(text: string): string {
  return text
    .replace(/\b(\w+)=[^&\s"'<>]+/g, (pair, name: string) =>
      shownOfName(name) === 'value' ? pair : `${name}=****`,
    )
    .replace(mailAddress, '****')
    .replace(/\d{6,}/g, (digits) => maskText(digits));
}

/**
 * A parameter of a request for a log. Of the keys of `user_info`, `showKey` returns what is shown,
 * by default those that look like names. An invalid `user_info` is masked whole.
 */
export function maskParameter(name: string, value: string, showKey = maskName): string {
  switch (shownOfName(name)) {
    case 'value':
      return value;
    case 'ends':
      return maskText(value);
    case 'keys':
      return maskUserInfo(value, showKey);
  }
}

function maskUserInfo(text: string, showKey: (key: string) => string): string {
  try {
    const masked = [...parseUserInfo(text)].map(
      ([key, value]) => [showKey(key), maskText(String(value))] as const,
    );
    return formatFlatJson(masked);
  } catch (error) {
    if (error instanceof InvalidInputError) return '****';
    throw error;
  }
}

/** Whether the values of a key are personal data. */
type IsPersonal = (key: string) => boolean;

/** An object or array that has not ended yet at some position of a JSON text. */
interface Container {
  readonly isObject: boolean;
  /** Whether everything in it is personal data. */
  readonly isPersonal: boolean;
}

/**
 * Masks the values of a JSON text whose key `isPersonal`, with everything inside them. `null` and
 * the empty string stay; all else is unchanged, byte by byte. A string that encodes an object is
 * masked inside, as those of `device_info` are (§4.1, shape rule 3). Of a text whose key `isProse`,
 * only the words that may be personal are masked. `json` is valid JSON.
 */
export function maskJson(
  json: string,
  isPersonal: IsPersonal,
  isProse: (key: string) => boolean = () => false,
): string {
  const shown: string[] = [];
  /** The containers around the token, the innermost last. */
  const containers: Container[] = [];
  /** The index up to which the text was shown. */
  let copied = 0;
  let key = '';
  let keyIsNext = false;
  for (const { start, end } of jsonTokens(json)) {
    const first = json[start];
    const container = containers.at(-1);
    const hides = hidesValue(container, key, isPersonal);
    if (first === '{' || first === '[') {
      containers.push({ isObject: first === '{', isPersonal: hides });
      keyIsNext = first === '{';
    } else if (first === '}' || first === ']') {
      containers.pop();
    } else if (first === ',') {
      keyIsNext = container?.isObject === true;
    } else if (keyIsNext) {
      key = JSON.parse(json.slice(start, end));
      keyIsNext = false;
    } else if (first !== ':') {
      const token = json.slice(start, end);
      const isText = first === '"' && container?.isObject === true && isProse(key);
      const masked = isText ? maskProse(token) : maskToken(token, hides, isPersonal);
      shown.push(json.slice(copied, start), masked);
      copied = end;
    }
  }
  return [...shown, json.slice(copied)].join('');
}

/** Whether the value in a container is personal data; `key` is its key, if that is an object. */
function hidesValue(container: Container | undefined, key: string, isPersonal: IsPersonal) {
  if (container === undefined) return false;
  return container.isPersonal || (container.isObject && isPersonal(key));
}

/** The token of a text with its words masked; unchanged if none may be personal. */
function maskProse(token: string): string {
  const text: string = JSON.parse(token);
  const masked = maskWords(text);
  return masked === text ? token : JSON.stringify(masked);
}

function maskToken(token: string, hides: boolean, isPersonal: IsPersonal): string {
  if (token === 'null' || token === '""') return token;
  const text: string = token.startsWith('"') ? JSON.parse(token) : token;
  if (/^\s*\{/.test(text) && jsonValueOf(text) !== undefined)
    return JSON.stringify(maskJson(text, hides ? () => true : isPersonal));
  if (!hides) return token;
  return JSON.stringify(maskText(text));
}
