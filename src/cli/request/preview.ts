import { type Command, Option } from 'commander';
import { showParameter } from '../../client/call/hooks.js';
import type { WireRequest } from '../../client/call/sign-request.js';
import { InvalidInputError } from '../../core/contract/errors.js';
import { maskGivenName } from '../../core/contract/masking.js';
import type { Settings } from '../../core/profiles/settings.js';
import { encodePairs } from '../../core/support/percent-encoding.js';
import { quoteWhereNeeded } from '../../core/support/shell.js';
import { withoutUndefined } from '../../core/support/without-undefined.js';
import type { Invocation } from '../command.js';
import { DependentOption } from '../command-line/help-layout.js';
import { addConnectionOptions, type ConnectionOptions } from '../command-line/options.js';
import { printMessage, write } from '../io.js';
import { showProxy } from './network.js';

/** Options of a command that sends a request, or shows it instead. */
export interface RequestOptions extends ConnectionOptions {
  readonly printCurl?: true;
  readonly dryRun?: true;
  readonly reveal?: true;
}

export function addRequestOptions(command: Command): Command {
  return addConnectionOptions(
    command
      .optionsGroup('Preview:')
      .addOption(
        new Option('--dry-run', 'print the request without sending it').conflicts('printCurl'),
      )
      .option('--print-curl', 'print a signed curl command without sending it')
      .addOption(
        new DependentOption('--reveal', 'with --dry-run or --print-curl, show masked values', [
          '--dry-run',
          '--print-curl',
        ]),
      )
      .optionsGroup(''),
  );
}

export function isPreview({ printCurl, dryRun }: RequestOptions): boolean {
  return printCurl === true || dryRun === true;
}

/** @throws InvalidInputError if masked values are to be shown, and personal data is to be masked */
export function refuseMaskedReveal({
  mask,
  reveal,
}: Pick<Invocation<RequestOptions>['options'], 'mask' | 'reveal'>): void {
  if (mask && reveal)
    throw new InvalidInputError('--reveal shows what --mask hides: use one of them');
}

/** Below what a preview masks. */
export const revealAdvice = 'Codes, signatures and personal data are masked: --reveal shows them.';

/** Prints a request without sending it: as a curl command for a POSIX shell, or part by part. */
export async function printPreview(
  { io, options, isTable, print }: Invocation<RequestOptions>,
  request: WireRequest,
  settings: Settings,
): Promise<void> {
  const { printCurl, reveal = false } = options;
  refuseMaskedReveal(options);
  const described = describeRequest(request, reveal);
  if (!printCurl) {
    await print(described);
  } else {
    const curl = curlCommand(request, described, settings, reveal);
    await (isTable ? write(io.stdout, `${curl}\n`) : print({ curl }));
  }
  if (!reveal) await printMessage(io, revealAdvice);
}

type Fields = Readonly<Record<string, string>>;

/** The parts of a request, with decoded values. */
interface DescribedRequest {
  readonly method: string;
  /** Without its query. */
  readonly url: string;
  readonly headers?: Fields;
  readonly query: Fields;
  readonly form?: Fields;
}

/** How a value of a request is shown, by its name. */
type ShowValue = (name: string, value: string) => string;

const showWhole: ShowValue = (_, value) => value;
const showMasked: ShowValue = (name, value) => showParameter(name, value, maskGivenName);
/** Any header may be secret. */
const hideWhole: ShowValue = () => '****';

/** The parts of a request, masked unless `reveal`. */
function describeRequest(request: WireRequest, reveal: boolean): DescribedRequest {
  const { method, url, body } = request;
  const headers = Object.entries(request.headers);
  const showHeader = reveal ? showWhole : hideWhole;
  const showField = reveal ? showWhole : showMasked;
  return withoutUndefined({
    method,
    url: url.href.split('?', 1)[0] ?? '',
    headers: headers.length === 0 ? undefined : mapValues(headers, showHeader),
    query: mapValues(new URLSearchParams(url.search), showField),
    form: body === null ? undefined : mapValues(new URLSearchParams(body), showField),
  });
}

function mapValues(
  fields: Iterable<readonly [name: string, value: string]>,
  show: ShowValue,
): Fields {
  return Object.fromEntries(Array.from(fields, ([name, value]) => [name, show(name, value)]));
}

/** The curl command that sends the request, with an option in each line. */
function curlCommand(
  { url, body, contentType }: WireRequest,
  described: DescribedRequest,
  { ca_file, client_cert, client_key, proxy }: Settings,
  reveal: boolean,
): string {
  const { method, headers = {} } = described;
  const shown = reveal ? { url: url.href, body } : encodeMasked(described);
  const lines = [['curl', '--globoff', '--request', method]]; // a base URL may contain brackets
  if (ca_file !== null) lines.push(['--cacert', ca_file.value]);
  if (client_cert !== null) lines.push(['--cert', client_cert.value]);
  if (client_key !== null) lines.push(['--key', client_key.value]);
  if (proxy !== null) lines.push(['--proxy', reveal ? proxy.value : showProxy(proxy.value)]);
  lines.push(['--header', 'Accept: application/json']);
  if (contentType !== null) lines.push(['--header', `Content-Type: ${contentType}`]);
  for (const [name, value] of Object.entries(headers))
    lines.push(['--header', `${name}: ${value}`]);
  if (shown.body !== null) lines.push(['--data-raw', shown.body]);
  lines.push(['--url', shown.url]);
  return lines.map((words) => words.map(quoteWhereNeeded).join(' ')).join(' \\\n  ');
}

/** Encodes the request, except for the masking characters, which stay readable. */
function encodeMasked({ url, query, form }: DescribedRequest) {
  const encode = (fields: Fields) =>
    encodePairs(Object.entries(fields)).replaceAll('%2A', '*').replaceAll('%E2%80%A6', '…');
  return { url: `${url}?${encode(query)}`, body: form === undefined ? null : encode(form) };
}
