import { RecipeError } from './recipe.js';
import type { SignableRequest } from './request.js';
import type { Secret } from './secret.js';
import type { Signature, Signer } from './signer.js';

/**
 * The exports of a JavaScript module that signs where no recipe can. `params` and `message` are
 * optional; when they are shown, the secret in them is replaced by `<secret>`.
 *
 * @example
 * const module: SignerModule = {
 *   sign: ({ params }, secret) => ({ digest: createHmac('sha256', secret.reveal()).update(String(params)).digest('hex') }),
 * };
 */
export interface SignerModule {
  /** Signs for `sign`. */
  sign(request: SignableRequest, secret: Secret): Pick<Signature, 'digest'> & Partial<Signature>;
  /** Signs for `app_sign`, in a module for both signatures. */
  app_sign?(
    request: SignableRequest,
    secret: Secret,
  ): Pick<Signature, 'digest'> & Partial<Signature>;
  /**
   * The length of the digest, in characters.
   *
   * @default it depends on the request
   */
  readonly digestLength?: number;
}

/**
 * Wraps a loaded module as a signer; `name` is its name in errors, `method` the exported function
 * that signs: it returns `{ digest }`, not a promise.
 *
 * @throws RecipeError where the module has no such function; the signer throws it where the
 * function returns no digest
 * @example
 * const sign = moduleSigner(await import('./our-signing.js'), 'our-signing.js');
 * const client = new UserInfoClient({ ...options, signing: { app_sign: sign, sign } });
 */
export function moduleSigner(
  module: SignerModule,
  name: string,
  method: 'app_sign' | 'sign' = 'sign',
): Signer {
  if (typeof (module as SignerModule | null)?.[method] !== 'function') {
    throw new RecipeError(
      name,
      `has no function ${method}`,
      `Export ${method}(request, secret), giving {digest}.`,
    );
  }
  const callModule = (request: SignableRequest, secret: Secret): Partial<Signature> => {
    try {
      return module[method]?.(request, secret) ?? {};
    } catch (error) {
      throw new RecipeError(name, `${method}() failed: ${hide(String(error), secret)}`);
    }
  };
  const sign = (request: SignableRequest, secret: Secret): Signature => {
    const { params = '', message = '', digest } = callModule(request, secret);
    if (typeof digest !== 'string' || digest === '') {
      throw new RecipeError(
        name,
        `${method}() gave no digest`,
        'Return {digest: "…"}, not a promise.',
      );
    }
    return { params, message, digest };
  };
  return {
    digestLength: module.digestLength ?? null,
    sign,
    explain(request, secret) {
      const { params, message, digest } = sign(request, secret);
      return { params: hide(params, secret), message: hide(message, secret), digest, missing: [] };
    },
  };
}

function hide(text: string, secret: Secret): string {
  const hidden = secret.reveal();
  if (hidden === '') return text;
  return text.replaceAll(hidden, secret.toString());
}
