// Only "profile add --from" loads it.
import { parseBaseUrl } from '../../../core/contract/base-url.js';
import { endpoints } from '../../../core/contract/endpoints.js';
import { InvalidInputError, quoteName } from '../../../core/contract/errors.js';
import { checkHeaderName, checkHeaderValue } from '../../../core/platform/headers.js';
import { type HeaderSources, seemsPrivate } from '../../../core/profiles/header-source.js';
import { requestFields } from '../../../core/profiles/profile.js';
import { paramOf } from '../../../core/signing/request.js';
import type { Sample } from '../../../lab/samples/captured-request.js';
import type { CliContext } from '../../command.js';
import { inputName } from '../../input.js';
import { readSignedInputs } from '../sign/sample-input.js';

type Values = Partial<Record<(typeof requestFields)[number], string>>;

/** Requests of one application of the platform. */
export interface Capture {
  readonly from: string;
  readonly samples: readonly Sample[];
  /** What they say of the deployment. */
  readonly values: Values;
}

/**
 * Number of requests that are searched: one is enough for most rules, more tell those apart that
 * fit it.
 */
const maxSamples = 4;

/**
 * Reads the requests to the platform (§4) in a file, or in standard input for `-`. Where they are
 * of several applications, the values that options give choose one.
 *
 * @throws InvalidInputError if there is none, if they are of several, or for one without a
 * signature; SampleError
 */
export async function readCapture(
  context: CliContext,
  from: string,
  typedValues: Values,
): Promise<Capture> {
  const all = await readSignedInputs(context, undefined, {
    sample: from,
    pick: 'all',
    accepted: true,
  });
  const apps = appsIn(all);
  if (apps.length === 0) {
    const endings = endpoints.map(({ path }) => path).join(' or ');
    throw new InvalidInputError(`${inputName(from)} has no request to the platform`, {
      hint: `Its addresses end with ${endings}, not as ${quoteName(all[0]?.url ?? '')}.`,
    });
  }
  const { values, samples } = chooseApp(apps, typedValues, from);
  const searched = samples.slice(0, maxSamples);
  if (searched.some(({ signature }) => signature === null)) {
    throw new InvalidInputError(`the request in ${inputName(from)} has no parameter "sign"`, {
      hint: 'Take one that the platform accepted, as it was sent. To go without one, leave out --from.',
    });
  }
  return { from, samples: searched, values };
}

/** The requests of one application in a capture, with what they say of the deployment. */
interface CapturedApp {
  readonly values: Values;
  readonly samples: Sample[];
}

/** The requests to the platform, by application; a request without an address is one, too. */
function appsIn(samples: readonly Sample[]): CapturedApp[] {
  const apps = new Map<string, CapturedApp>();
  for (const sample of samples) {
    const endpoint = endpoints.find(({ path }) => sample.url.endsWith(path));
    if (endpoint === undefined && sample.url !== '') continue;
    const values = valuesOf(sample, endpoint?.path ?? '');
    const key = JSON.stringify(values);
    const app = apps.get(key) ?? { values, samples: [] };
    app.samples.push(sample);
    apps.set(key, app);
  }
  return [...apps.values()];
}

/** @throws InvalidInputError if the values that options give choose none of several, or more */
function chooseApp(apps: readonly CapturedApp[], typedValues: Values, from: string): CapturedApp {
  const [only, ...more] = apps;
  if (only !== undefined && more.length === 0) return only;
  const chosen = apps.filter(({ values }) =>
    requestFields.every(
      (field) => typedValues[field] === undefined || typedValues[field] === values[field],
    ),
  );
  const [app, ...others] = chosen;
  if (app === undefined || others.length > 0) throw severalApps(from, apps);
  return app;
}

function valuesOf(sample: Sample, path: string): Values {
  const base = sample.url.slice(0, sample.url.length - path.length);
  const values: Record<string, string> = {};
  if (/^https?:/i.test(base)) values.base_url = parseBaseUrl(base, 'the address of the request');
  for (const field of requestFields) {
    const value = paramOf(sample, field);
    if (value !== undefined) values[field] = value;
  }
  return values;
}

function severalApps(
  from: string,
  apps: readonly { readonly values: Values }[],
): InvalidInputError {
  const lines = apps.map(({ values }) =>
    requestFields.map((field) => values[field] ?? '?').join('  '),
  );
  const advice = 'Choose one, by --app-key, --tenant-code, --channel or --base-url:';
  return new InvalidInputError(`${inputName(from)} has requests of ${apps.length} applications`, {
    hint: [advice, ...lines].join('\n'),
  });
}

/** Headers that clients, browsers and proxies add by themselves, as patterns. */
const addedHeaders = new RegExp(
  `^(?:${[
    ':.*',
    'accept|accept-.*',
    'alt-used|baggage|cache-control|cdn-loop|cf-.*|connection',
    'content-(?:encoding|length)',
    'dnt|expect|forwarded|host|http2-settings|if-.*|keep-alive|max-forwards',
    'origin|postman-token|pragma|priority|proxy-.*|purpose|range|referer|save-data|sec-.*',
    'te|traceparent|tracestate|trailer|transfer-encoding|true-client-ip',
    'upgrade|upgrade-insecure-requests|user-agent|via',
    'x-amzn-trace-id|x-b3-.*|x-client-data|x-cloud-trace-context|x-envoy-.*',
    'x-forwarded-.*|x-http2-.*|x-real-ip|x-requested-with',
  ].join('|')})$`,
  'i',
);

/** Headers of one request, besides those that clients and proxies add. */
const ofOneRequest = /^(?:(?:access-control|content)-.*|x-(?:request|correlation|trace)-id)$/i;

/**
 * The headers that every request has alike: those to store, and the names of those that seem to be
 * private.
 */
export function headersOf({ samples }: Capture): {
  readonly plain: HeaderSources;
  readonly left: string[];
} {
  const [first, ...others] = samples;
  const plain: Record<string, string> = {};
  const left: string[] = [];
  for (const [name, value] of Object.entries(first?.headers ?? {})) {
    if (addedHeaders.test(name) || ofOneRequest.test(name)) continue;
    if (others.some(({ headers }) => headers[name] !== value)) continue;
    if (seemsPrivate(name, value) !== null) {
      left.push(name);
      continue;
    }
    checkHeaderName(name, 'the request');
    plain[name] = checkHeaderValue(value, `the header ${name} of the request`);
  }
  return { plain, left };
}
