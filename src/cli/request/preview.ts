import { type Command, Option } from 'commander';
import { showParameter } from '../../client/call/hooks.js';
import type { WireRequest } from '../../client/call/wire-request.js';
import { maskGivenName } from '../../core/contract/masking.js';
import type { Settings } from '../../core/profiles/settings.js';
import { encodePairs } from '../../core/support/percent-encoding.js';
import { quoteWhereNeeded } from '../../core/support/shell.js';
import type { Invocation } from '../command.js';
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
      .option('--reveal', 'with --dry-run or --print-curl, show masked values')
      .optionsGroup(''),
  );
}

export function isPreview({ printCurl, dryRun }: RequestOptions): boolean {
  return printCurl === true || dryRun === true;
}

/** Below what a preview masks. */
export const revealAdvice = 'Codes, signatures and personal data are masked: --reveal shows them.';

/** Prints a request without sending it: as a curl command for a POSIX shell, or part by part. */
export async function printPreview(
  { io, options: { printCurl, reveal }, isTable, print }: Invocation<RequestOptions>,
  request: WireRequest,
  { ca_file, client_cert, client_key, proxy }: Settings,
): Promise<void> {
  const parts = partsOf(request, reveal);
  if (printCurl) {
    const { contentType, body, method } = request;
    const shown = reveal ? { url: request.url.href, body } : encodeMasked(parts);
    const curl = [
      ['curl', '--globoff', '--request', method], // a base URL may contain brackets
      ...(ca_file === null ? [] : [['--cacert', ca_file.value]]),
      ...(client_cert === null ? [] : [['--cert', client_cert.value]]),
      ...(client_key === null ? [] : [['--key', client_key.value]]),
      ...(proxy === null ? [] : [['--proxy', reveal ? proxy.value : showProxy(proxy.value)]]),
      ['--header', 'Accept: application/json'],
      ...(contentType === null ? [] : [['--header', `Content-Type: ${contentType}`]]),
      ...Object.entries(parts.headers ?? {}).map(([name, value]) => [
        '--header',
        `${name}: ${value}`,
      ]),
      ...(shown.body === null ? [] : [['--data-raw', shown.body]]),
      ['--url', shown.url],
    ];
    const command = curl.map((words) => words.map(quoteWhereNeeded).join(' ')).join(' \\\n  ');
    await (isTable ? write(io.stdout, `${command}\n`) : print({ curl: command }));
  } else {
    await print(parts);
  }
  if (!reveal) await printMessage(io, revealAdvice);
}

/** The values of headers may be secret: they are masked whole. */
function partsOf({ method, url, headers, body }: WireRequest, reveal = false) {
  const show = (name: string, value: string) =>
    reveal ? value : showParameter(name, value, maskGivenName);
  const shownHeaders = Object.entries(headers).map(([name, value]) => [
    name,
    reveal ? value : '****',
  ]);
  const shownPairs = (encoded: string) =>
    Object.fromEntries(
      [...new URLSearchParams(encoded)].map(([name, value]) => [name, show(name, value)]),
    );
  return {
    method,
    url: url.href.split('?', 1)[0] ?? '',
    ...(shownHeaders.length === 0 ? {} : { headers: Object.fromEntries(shownHeaders) }),
    query: shownPairs(url.search),
    ...(body === null ? {} : { form: shownPairs(body) }),
  };
}

/** Encodes the request, except for the masking characters, which stay readable. */
function encodeMasked({
  url,
  query,
  form,
}: Pick<ReturnType<typeof partsOf>, 'url' | 'query' | 'form'>) {
  const encode = (fields: Readonly<Record<string, string>>) =>
    encodePairs(Object.entries(fields)).replaceAll('%2A', '*').replaceAll('%E2%80%A6', '…');
  return { url: `${url}?${encode(query)}`, body: form === undefined ? null : encode(form) };
}
