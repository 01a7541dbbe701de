import { InvalidInputError } from './errors.js';
import { maskName } from './mask-name.js';
import { formatUserInfo, parseUserInfo } from './user-info.js';

/** Names whose values are about a person, and are masked wherever they would be logged. */
export const personalNames: readonly string[] = [
  'mobile',
  'id_card',
  'device_token',
  'uuid',
  'gps',
  'chat_union_id',
  'chat_open_id',
  'chat_nickname',
  'chat_avatar',
];

/** Whether values of this name are about a person, be it behind a tenant's prefix, such as `acme_mobile`. */
export function isPersonalName(name: string): boolean {
  return personalNames.some((personal) => name === personal || name.endsWith(`_${personal}`));
}

/** A value with its middle hidden: `138****1234`. What is shorter than a mobile number is hidden whole. */
export function maskText(text: string): string {
  const characters = [...text];
  if (characters.length < 11) return '****';
  return `${characters.slice(0, 3).join('')}****${characters.slice(-4).join('')}`;
}

/**
 * A parameter of a request as a log may show it: `code` and the values of `user_info` are masked, each key of
 * `user_info` is kept that looks like one. A `user_info` that cannot be read is hidden whole.
 */
export function maskParameter(name: string, value: string): string {
  if (name === 'code' || isPersonalName(name)) return maskText(value);
  return name === 'user_info' ? maskUserInfo(value) : value;
}

function maskUserInfo(text: string): string {
  try {
    const masked = [...parseUserInfo(text)].map(
      ([key, value]) => [maskName(key), maskText(String(value))] as const,
    );
    return formatUserInfo(new Map(masked));
  } catch (error) {
    if (error instanceof InvalidInputError) return '****';
    throw error;
  }
}
