import type { SignatureName } from '../core/signing/app-signatures.js';
import { outputs } from '../core/signing/digest-algorithms.js';
import { keyDecodings, nameCases, orders } from '../core/signing/recipe.js';
import type { SignableRequest } from '../core/signing/request.js';
import { chainsFor, keysFor } from './rule-parts/chains.js';
import { layoutsFor, partJoiners, partTokens, secretForms } from './rule-parts/layouts.js';
import {
  arrangementsFor,
  empties,
  encodings,
  secretNames,
  sources,
  usualOrders,
  writings,
} from './rule-parts/parameters.js';
import { byBits, type Choice, choices } from './rule-parts/rarity.js';

/**
 * What a document may leave open at a path of a recipe, the most usual first; `null` for a path
 * that has to be said.
 */
export function choicesAt(
  signature: SignatureName,
  path: readonly string[],
  request: SignableRequest,
): readonly Choice<unknown>[] | null {
  const pathOfKind = path.map((name) => (/^\d+$/.test(name) ? 'N' : name)).join('.');
  if (pathOfKind.startsWith('params.add.')) return byBits(secretForms);
  const make = choicesByPath[pathOfKind];
  return make === undefined ? null : distinct(byBits(make(signature, request)));
}

type MakeChoices = (
  signature: SignatureName,
  request: SignableRequest,
) => readonly Choice<unknown>[];

const separators = choices<string>(
  [0.5, ''],
  [1, '&', '='],
  [1.5, '\n', '|', ',', ':', ';'],
  [4, '-', '_', '.', ' ', '#', '+', '@', '/', '$', '\r\n', '?'],
  [8, '::', '||', '&&', '~', '*', '\0', '\t', '{up}', '\n\n', '###'],
);

const flags = choices<boolean>([1, true, false]);

/** By the path of a value; `N` for any index. */
const choicesByPath: Readonly<Record<string, MakeChoices>> = {
  params: (signature) => paramsChoices(signature),
  'params.from': () => sources,
  'params.exclude': (signature) => ruleChoices(signature, 'exclude'),
  'params.include': (signature) => ruleChoices(signature, 'include'),
  'params.empty': () => empties,
  'params.order': () => [...usualOrders, ...choices([6, ...orders])],
  'params.names': () => flags,
  'params.kvSep': () => separators,
  'params.pairSep': () => separators,
  'params.encode': () => encodings.map(({ rule, bits }) => ({ value: rule.encode, bits })),
  'params.nameCase': () => choices([0, ...nameCases]),
  message: (signature) =>
    layoutsFor(signature)
      .slice(0, maxLayouts)
      .map(({ before, after, bits }) => ({ value: [...before, '$params', ...after], bits })),
  'message.N': (_, request) => entryChoices(request),
  join: () => [...partJoiners, ...separators],
  steps: (signature) => chainsFor(signature).map(({ steps, bits }) => ({ value: steps, bits })),
  'steps.N': (signature) =>
    chainsFor(signature).flatMap(({ steps, bits }) => steps.map((value) => ({ value, bits }))),
  key: (signature) =>
    keysFor(signature).map(({ tokens, decode = 'utf8', bits }) => ({
      value: { tokens, decode },
      bits,
    })),
  'key.tokens': (signature) =>
    keysFor(signature).map(({ tokens, bits }) => ({ value: tokens, bits })),
  'key.tokens.N': (_, request) => entryChoices(request),
  'key.decode': () => choices([0, ...keyDecodings]),
  output: () => choices([0, ...outputs]),
};

const maxLayouts = 3000;
const maxArrangements = 300;
const maxParams = 5000;

function paramsChoices(signature: SignatureName): Choice<unknown>[] {
  const rules = arrangementsFor(signature)
    .slice(0, maxArrangements)
    .flatMap((arrangement) =>
      writings.flatMap((writing) =>
        encodings.map((encoding) => ({
          value: { ...arrangement.rule, ...writing.rule, ...encoding.rule },
          bits: arrangement.bits + writing.bits + encoding.bits,
        })),
      ),
    );
  return byBits(rules).slice(0, maxParams);
}

function ruleChoices(signature: SignatureName, field: 'exclude' | 'include'): Choice<unknown>[] {
  return arrangementsFor(signature).flatMap(({ rule, bits }) => {
    const value = rule[field];
    return value === undefined ? [] : [{ value, bits }];
  });
}

/**
 * What an entry of a message or of a key may be: a part of the request, the secret, a text; or
 * nothing.
 */
function entryChoices({ params }: SignableRequest): Choice<string>[] {
  const named = params.map(([name]) => ({ value: `$\{param:${name}}`, bits: 5 }));
  const pairs = secretNames.flatMap(({ value: name, bits }) =>
    ['&', ''].map((before, index) => ({
      value: `${before}${name}=$secret`,
      bits: bits + 2 + 2 * index,
    })),
  );
  const texts = separators.map(({ value, bits }) => ({ value, bits: bits + 1.7 }));
  const secrets = secretForms.map(({ value, bits }) => ({ value, bits: bits + 0.5 }));
  return [...choices([1.5, '$params']), ...secrets, ...texts, ...pairs, ...partTokens, ...named];
}

/** Each value once, where it is the most usual. */
function distinct(sorted: readonly Choice<unknown>[]): Choice<unknown>[] {
  const byValue = new Map<string, Choice<unknown>>();
  for (const choice of sorted) {
    const key = JSON.stringify(choice.value);
    if (!byValue.has(key)) byValue.set(key, choice);
  }
  return [...byValue.values()];
}
