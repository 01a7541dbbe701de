import type { PlainRequest } from '../../client/call/request.js';
import { doubtsAbout, type TextUse } from '../../core/contract/doubts.js';
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

/** The doubt about a text, if there is one. */
export function doubtful(
  what: string,
  text: string,
  use: TextUse,
  special: readonly string[] = [],
): DoubtfulText[] {
  const doubts = doubtsAbout(text, use, special);
  if (doubts.length === 0) return [];
  const why = doubts.join(' and ');
  return use === 'name' || use === 'secret' ? [{ what, why }] : [{ what, text, why }];
}

/** The doubts about the texts of a request; of its settings, about those that no profile has. */
export function requestDoubts(request: PlainRequest, settings: Settings): DoubtfulText[] {
  const { parameters, infoNames } = request;
  const names = specialNamesOf(settings);
  return [
    ...settingDoubts(settings),
    ...doubtful('the code', parameters.get('code') ?? '', 'id', names),
    ...doubtful('--scope', parameters.get('scope') ?? '', 'id'),
    ...infoNames.flatMap((name) => nameDoubts('name', name, names)),
    ...doubtful('--union-id', parameters.get('union_id') ?? '', 'id'),
    ...userInfoDoubts(request, settings.key_prefix),
  ];
}

/** The names of information with a special meaning to the platform. */
export function specialNamesOf({ platform }: Pick<Settings, 'platform'>): string[] {
  return Object.keys(specialInfoNames(platform.value.chat_prefix));
}

export function nameDoubts(kind: string, name: string, special: readonly string[]): DoubtfulText[] {
  return doubtful(`the ${kind} ${quoteName(name)}`, name, 'name', special);
}

/**
 * The doubts about a key of `user_info`; one with the prefix of the tenant is not meant to be a
 * special one.
 */
export function keyDoubts(kind: string, key: string, prefix: string | null): DoubtfulText[] {
  const isOwn = prefix !== null && key.startsWith(prefix);
  return nameDoubts(kind, key, isOwn ? [] : Object.keys(specialUserInfoKeys));
}

function userInfoDoubts({ parameters }: PlainRequest, prefix: string | null): DoubtfulText[] {
  const userInfo = parseFlatJson(parameters.get('user_info') ?? '{}');
  const primaryKey = parameters.get('primary_key') ?? '';
  const doubts = userInfo.has(primaryKey) ? [] : keyDoubts('primary key', primaryKey, prefix);
  for (const [key, value] of userInfo) {
    doubts.push(...keyDoubts('key', key, prefix));
    const isId = key === primaryKey;
    const text = isId ? identifyingText(value) : value;
    if (typeof text !== 'string') continue;
    doubts.push(...doubtful(`the value of key ${quoteName(key)}`, text, isId ? 'id' : 'value'));
  }
  return doubts;
}

/**
 * The doubts about settings of flags and variables: those of a profile were asked about when it was
 * stored.
 */
export function settingDoubts(settings: Settings): DoubtfulText[] {
  return [settings.tenant_code, settings.channel, settings.app_key].flatMap(({ value, origin }) =>
    origin.kind === 'profile' ? [] : doubtful(describeOrigin(origin), value, 'id'),
  );
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
  for (const { what, text, why } of doubts)
    await printMessage(
      io,
      text === undefined ? `${what} ${why}` : `${what}, ${quoteVisibly(text)}, ${why}`,
    );
  if (!(await prompt.confirm(question)))
    throw new InvalidInputError('not confirmed: nothing was done');
}

/** Says each doubt in one line. */
export async function warnOfDoubts(io: Io, doubts: readonly DoubtfulText[]): Promise<void> {
  for (const { what, why } of doubts) await warn(io, `${what} ${why}`);
}

/** Maximum number of characters that are shown of a text. */
const maxShown = 60;

/** A text in quotes, each character of which is seen. */
function quoteVisibly(text: string): string {
  return showInvisible(
    JSON.stringify(text.length > maxShown ? `${text.slice(0, maxShown)}…` : text),
  );
}
