/** What names of parameters, keys and paths look like, and values that went astray do not. */
const plainName = /^[A-Za-z_~][\w.~-]{0,39}$/;

/** A phone number has more, and so has an identity card, a place, a `code`. */
const maxDigits = 5;

const maxSegments = 8;

/** A name that was received, as a log may show it: hidden where it may as well be a value. */
export function maskName(name: string): string {
  const digits = name.match(/\d/g)?.length ?? 0;
  return plainName.test(name) && digits <= maxDigits ? name : '****';
}

/** A message as a log may show it: the names that `quoteName` put into it were received. */
export function maskQuotedNames(message: string): string {
  return message.replace(/"((?:[^"\\]|\\.)*)"/g, (_, name: string) => `"${maskName(name)}"`);
}

/** A path that was received, as a log may show it: each of its names by itself, and not too many. */
export function maskPath(path: string): string {
  const segments = path.split('/', maxSegments);
  return segments.map((segment) => (segment === '' ? '' : maskName(segment))).join('/');
}
