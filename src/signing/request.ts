import type { Secret } from './secret.js';

export type Param = readonly [name: string, value: string];

/** A request as a recipe sees it. */
export interface SignableRequest {
  readonly method: string;
  /** Scheme, host and path, without the query. */
  readonly url: string;
  /** Query parameters, then form fields, in request order, raw and unencoded. */
  readonly params: readonly Param[];
  /** The body as it is sent; null where there is none. */
  readonly body: string | null;
  /** Values that take part without being parameters, such as a header. */
  readonly extra: Readonly<Record<string, string>>;
}

/** The first parameter of that name. */
export function paramOf({ params }: SignableRequest, name: string): string | undefined {
  return params.find(([known]) => known === name)?.[1];
}

export function extraOf({ extra }: SignableRequest, name: string): string | undefined {
  return Object.hasOwn(extra, name) ? extra[name] : undefined;
}

const urlShape = /^[a-z][a-z\d+.-]*:\/\/([^/]*)(.*)$/is;

/** The host of a URL, with its port where it has one. */
export function hostOf(url: string): string {
  return urlShape.exec(url)?.[1] ?? '';
}

/** The path of a URL as it is written, not normalized, without `basePath`; a text without a scheme is all path. */
export function pathOf(url: string, basePath: string): string {
  const match = urlShape.exec(url);
  const path = match === null ? url : match[2] || '/';
  return path.startsWith(basePath) ? path.slice(basePath.length) : path;
}

/** A request that was signed, or is to be: what `sign explain`, `verify` and `solve` take in. */
export interface Sample extends SignableRequest {
  /** The parameter that carries the signature; it is not among `params`. */
  readonly signParam: string;
  /** The signature; null where there is none, which only explaining can do without. */
  readonly signature: string | null;
  /** The secret that the sample itself holds; null where it comes from elsewhere. */
  readonly secret: Secret | null;
}
