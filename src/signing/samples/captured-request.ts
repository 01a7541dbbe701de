import { UserInfoError } from '../../support/errors.js';
import { type Param, type Sample, type SignableRequest, withoutParams } from '../request.js';

/** A text that is not a request, or has a part that cannot be read. The message contains no value from the text. */
export class SampleError extends UserInfoError {
  readonly code = 'INVALID_SAMPLE';

  constructor(message: string, hint?: string) {
    super(message, { hint });
  }
}

/** A request as sent or logged; nothing in it is decoded. */
export interface CapturedRequest {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly body: string | null;
  /** The type of the body; null where it is unknown. */
  readonly contentType: string | null;
}

/**
 * A request as a recipe sees it: the query, then the form, decoded, in request order.
 *
 * @throws SampleError for a parameter that is not UTF-8
 */
export function toSignable({ method, url, body, contentType }: CapturedRequest): SignableRequest {
  const [address = ''] = url.split('#');
  const at = address.indexOf('?');
  const query = at < 0 ? '' : address.slice(at + 1);
  const form = body !== null && isForm(body, contentType) ? body : '';
  return {
    method,
    url: at < 0 ? address : address.slice(0, at),
    ...(query !== '' && { query }),
    params: [...decodePairs(query), ...decodePairs(form)],
    body,
    extra: {},
  };
}

/** A body of unknown type is a form, unless it looks like JSON or XML. */
function isForm(body: string, contentType: string | null): boolean {
  if (contentType === null) return !/^\s*[{[<]/.test(body);
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}

const replacement = '\ufffd';

/** Keeps a stray `%`: logs show half-decoded parameters. */
function decodePairs(text: string): Param[] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .flatMap((part): Param[] => {
      const [name = '', value = ''] = [...new URLSearchParams(`?${part}`)][0] ?? [];
      if ((name + value).includes(replacement) && !/%EF%BF%BD|\ufffd/i.test(part)) {
        throw new SampleError(
          `parameter ${JSON.stringify(name)} is not percent-encoded UTF-8`,
          'Write the request as a sample file, with the text of its parameters.',
        );
      }
      return [[name, value]];
    });
}

export const defaultSignParam = 'sign';

/**
 * Takes the signature out of the parameters.
 *
 * @throws SampleError where several parameters carry one
 */
export function takeSignature(request: SignableRequest, signParam: string): Omit<Sample, 'secret'> {
  const signatures = request.params.filter(([name]) => name === signParam);
  if (signatures.length > 1) throw new SampleError(`parameter ${JSON.stringify(signParam)} is given twice`);
  return {
    ...withoutParams(request, [signParam]),
    signParam,
    signature: signatures[0]?.[1] ?? null,
  };
}
