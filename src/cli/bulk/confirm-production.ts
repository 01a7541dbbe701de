import type { Settings } from '../../profiles/settings.js';
import { InvalidInputError } from '../../protocol/errors.js';
import type { CliContext } from '../context.js';
import { say } from '../io.js';

/**
 * Asks the user to type the name of the profile before many rows are written to production; `--yes` answers in
 * advance.
 *
 * @throws InvalidInputError if another name was typed, or there is no terminal to ask on: nothing was sent
 */
export async function confirmMany(
  { io, prompt }: CliContext,
  { environment, profile, base_url }: Settings,
  rows: string,
  yes: boolean | undefined,
): Promise<void> {
  if (environment.value !== 'production' || yes) return;
  const { host } = new URL(base_url.value);
  const [name, what] = profile === null ? [host, 'the host'] : [profile, 'the profile'];
  if (!prompt.possible) {
    throw new InvalidInputError(
      `writing ${rows} to production, ${host}, needs a confirmation, and there is no terminal`,
      {
        hint: 'Add --yes to confirm in advance. Nothing was sent.',
      },
    );
  }
  await say(io, `about to write ${rows} to production, ${host}`);
  const answer = await prompt.text(`To continue, type the name of ${what}, ${name}:`, () => true);
  if (answer.trim() !== name) throw new InvalidInputError(`the answer was not ${name}: nothing was sent`);
}
