import { InvalidInputError, quoteName } from '../contract/errors.js';

/** RFC 9110 §5.6.2. */
const token = /^[\w!#$%&'*+.^`|~-]{1,100}$/;

/**
 * RFC 9110 §5.5, without what is older than it: text beyond ASCII has no one meaning in a header.
 */
const valuePattern = /^[!-~](?:[ \t!-~]*[!-~])?$/;

/** Headers that HTTP, the connection or the reading of an answer needs. */
const reserved =
  /^(?:host|content-(?:length|type|encoding)|transfer-encoding|te|trailer|(?:proxy-)?connection|keep-alive|proxy-authorization|upgrade|expect|accept(?:-encoding)?|range)$/i;

/**
 * @throws InvalidInputError for an invalid header name, or one that HTTP itself sets; the message
 * begins with `label`
 */
export function checkHeaderName(name: string, label: string): void {
  if (!token.test(name))
    throw new InvalidInputError(`${label}: ${quoteName(name)} is not the name of a header`);
  if (!reserved.test(name)) return;
  throw new InvalidInputError(
    `${label}: ${name} cannot be set: HTTP or the answer needs it as it is`,
  );
}

/**
 * @throws InvalidInputError as `checkHeaderName`, and for a name that is given twice: its letter
 * case has no meaning
 */
export function checkHeaderNames(names: readonly string[], label: string): void {
  const seen = new Set<string>();
  for (const name of names) {
    checkHeaderName(name, label);
    if (seen.has(name.toLowerCase()))
      throw new InvalidInputError(`${label}: ${quoteName(name)} is given twice`);
    seen.add(name.toLowerCase());
  }
}

/**
 * Returns the value of a header, of at most 8,192 characters.
 *
 * @throws InvalidInputError for a value that HTTP cannot carry, without the value; it begins with
 * `label`
 */
export function checkHeaderValue(value: string, label: string): string {
  if (valuePattern.test(value) && value.length <= 8192) return value;
  throw new InvalidInputError(
    `${label} is not the value of a header: printable ASCII, no line break`,
    {
      hint: 'Basic authentication is "Basic " and the base64 of user:password.',
    },
  );
}

/** A header whose value is in the variable of its name, as --header takes it. */
export function headerFromVariable(header: string): string {
  return `${header}=env:${header.toUpperCase().replace(/\W/g, '_')}`;
}
