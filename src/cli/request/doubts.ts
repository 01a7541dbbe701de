import type { PlainRequest } from '../../client/call/request.js';
import { doubtsAbout, type TextUse } from '../../core/contract/doubts.js';
import type { OwnParameterName } from '../../core/contract/endpoints.js';
import { InvalidInputError, quoteName } from '../../core/contract/errors.js';
import { specialInfoNames } from '../../core/contract/info-names.js';
import { identifyingText } from '../../core/contract/passback.js';
import { parseFlatJson, specialUserInfoKeys } from '../../core/contract/user-info.js';
import { describeOrigin } from '../../core/profiles/flags-and-environment.js';
import type { Settings } from '../../core/profiles/settings.js';
import type { CliContext } from '../command.js';
import { type Io, printMessage } from '../io.js';
import { warn } from '../output/style.js';
import { showInvisible } from '../output/terminal-text.js';

/** A text that may not be meant. */
export interface DoubtfulText {
  /** Its name in messages, such as `the code`. */
  readonly what: string;
  /** The text, which is shown only where somebody is asked; without it, `what` says all. */
  readonly text?: string;
  /** What follows the name. */
  readonly why: string;
}

/** The doubt about a text, if there is one. `special` are the names that it may be meant to be. */
export function doubtful(
  what: string,
  text: string,
  use: TextUse,
  special: readonly string[] = [],
): DoubtfulText[] {
  const doubts = doubtsAbout(text, use, special);
  if (doubts.length === 0) return [];
  const why = doubts.join(' and ');
  // `what` has a name already, and a secret is never shown.
  if (use === 'name' || use === 'secret') return [{ what, why }];
  return [{ what, text, why }];
}

/** The doubts about the texts of a request; of its settings, about those that no profile has. */
export function requestDoubts(request: PlainRequest, settings: Settings): DoubtfulText[] {
  const doubts = Object.entries(parameterDoubts).flatMap(([name, doubtsOf]) => {
    const value = request.parameters.get(name);
    return value === undefined ? [] : doubtsOf(value, request, settings);
  });
  return [...settingDoubts(settings), ...doubts];
}

type ParameterDoubts = (value: string, request: PlainRequest, settings: Settings) => DoubtfulText[];

const parameterDoubts: Readonly<Record<OwnParameterName, ParameterDoubts>> = {
  code: (code, _, settings) => doubtful('the code', code, 'id', specialNamesOf(settings)),
  scope: (scope) => doubtful('--scope', scope, 'id'),
  info_name: (_, { infoNames }, settings) =>
    infoNames.flatMap((name) => nameDoubts('name', name, specialNamesOf(settings))),
  union_id: (unionId) => doubtful('--union-id', unionId, 'id'),
  // It is a key of user_info, or in doubt beside its keys.
  primary_key: () => [],
  user_info: (userInfo, { parameters }, { key_prefix }) =>
    userInfoDoubts(userInfo, parameters.get('primary_key') ?? '', key_prefix),
};

/** The names of information with a special meaning to the platform. */
export function specialNamesOf({ platform }: Pick<Settings, 'platform'>): string[] {
  return Object.keys(specialInfoNames(platform.value.chat_prefix));
}

/**
 * The doubts about a name; `kind` says what it is in messages, and `special` are the names that it
 * may be meant to be.
 */
export function nameDoubts(kind: string, name: string, special: readonly string[]): DoubtfulText[] {
  return doubtful(`the ${kind} ${quoteName(name)}`, name, 'name', special);
}

/**
 * The doubts about a key of `user_info`; one with the prefix of the tenant is not meant to be a
 * special one.
 */
export function keyDoubts(kind: string, key: string, prefix: string | null): DoubtfulText[] {
  if (prefix !== null && key.startsWith(prefix)) return nameDoubts(kind, key, []);
  return nameDoubts(kind, key, Object.keys(specialUserInfoKeys));
}

function userInfoDoubts(json: string, primaryKey: string, prefix: string | null): DoubtfulText[] {
  const userInfo = parseFlatJson(json);
  const doubts: DoubtfulText[] = [];
  if (!userInfo.has(primaryKey)) doubts.push(...keyDoubts('primary key', primaryKey, prefix));
  for (const [key, value] of userInfo) {
    doubts.push(...keyDoubts('key', key, prefix));
    if (key === primaryKey) doubts.push(...valueDoubts(key, identifyingText(value), 'id'));
    else doubts.push(...valueDoubts(key, value, 'value'));
  }
  return doubts;
}

function valueDoubts(key: string, value: unknown, use: TextUse): DoubtfulText[] {
  if (typeof value !== 'string') return [];
  return doubtful(`the value of key ${quoteName(key)}`, value, use);
}

/**
 * The doubts about settings of flags and variables: those of a profile were asked about when it was
 * stored.
 */
export function settingDoubts(settings: Settings): DoubtfulText[] {
  const { tenant_code, channel, app_key } = settings;
  const unconfirmed = [tenant_code, channel, app_key].filter(
    ({ origin }) => origin.kind !== 'profile',
  );
  return unconfirmed.flatMap(({ value, origin }) => doubtful(describeOrigin(origin), value, 'id'));
}

/**
 * Asks on a terminal whether doubtful texts are meant. Elsewhere, with `--yes`, and in a preview,
 * one line says each, without the text, which may be personal data.
 *
 * @throws InvalidInputError if the answer is no
 */
export async function confirmDoubts(
  { io, prompt }: Pick<CliContext, 'io' | 'prompt'>,
  doubts: readonly DoubtfulText[],
  question: string,
  isAnswered: boolean,
): Promise<void> {
  if (doubts.length === 0) return;
  if (isAnswered || !prompt.possible) return warnOfDoubts(io, doubts);
  for (const doubt of doubts) await printMessage(io, describeWithText(doubt));
  if (!(await prompt.confirm(question))) throw new InvalidInputError('not confirmed');
}

function describeWithText({ what, text, why }: DoubtfulText): string {
  if (text === undefined) return `${what} ${why}`;
  return `${what}, ${quoteVisibly(text)}, ${why}`;
}

/** Says each doubt in one line. */
export async function warnOfDoubts(io: Io, doubts: readonly DoubtfulText[]): Promise<void> {
  for (const { what, why } of doubts) await warn(io, `${what} ${why}`);
}

/** Maximum number of characters that are shown of a text. */
const maxShown = 60;

/** A text in quotes, each character of which is seen. */
function quoteVisibly(text: string): string {
  const shown = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
  return showInvisible(JSON.stringify(shown));
}
