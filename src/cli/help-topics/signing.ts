import { defaultClockWindowSeconds } from '../../protocol/limits.js';
import { presets } from '../../signing/presets.js';
import type { SigningRecipes } from '../../signing/recipe.js';

/** What a preset's description says before it says that it is the default. */
function describeDefault(name: keyof SigningRecipes): string {
  const ending = `. The default for ${name}.`;
  const preset = presets.find(({ description }) => description.endsWith(ending));
  return preset?.description.slice(0, -ending.length) ?? '';
}

export const signingTopic = `How requests are signed

Each request carries two digests: app_sign and sign. How they are computed is
not in the platform's document; ask its operator, or find out from one request
that was accepted. A recipe says it, as data: a profile can hold one for each
("userinfo profile set --help" shows how), and so can an app of "userinfo
serve". Otherwise these hold:

  app_sign  ${describeDefault('app_sign')}
  sign      ${describeDefault('sign')}

A recipe takes the parameters (query, then form; never the one that carries the
digest), writes them as one block, puts the block and other parts in the
message, and sends the message through the digest steps.

  userinfo sign explain read <code>     each stage, for a request like this
  userinfo sign verify <request>        whether a signed request is right, and
                                        if not, which usual mistake explains it
  userinfo sign solve <request>         the rules by which a good request was
                                        signed
  userinfo sign presets                 the recipes in common use

The secret is never sent, never printed, and never taken from an argument: it is
shown as <secret>. A request that is sent again is signed again, with a new
random and timestamp. The service allows its clock and the caller's to differ by
${defaultClockWindowSeconds} s, and takes each random of an app once; "userinfo doctor" compares clocks.
`;
