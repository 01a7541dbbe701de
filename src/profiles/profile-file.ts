import { readFileSync } from 'node:fs';
import { InvalidInputError } from '../protocol/errors.js';
import { quoteName } from '../protocol/text.js';
import { ProfileError, ProfileFileError } from './errors.js';
import { type JsonObject, readObject } from './json-fields.js';
import { formatProfile, parseProfile } from './parse-profile.js';
import { checkProfileName, type Profile } from './profile.js';
import { noProfiles, type ProfileList } from './profile-list.js';
import { describeSystemError, isSystemError } from './system-error.js';

const howToRepair =
  'Correct it by hand, or move it away and add the profiles again: nothing in it was changed.';

/**
 * Reads and checks the whole file; one that does not exist holds no profiles. With `beforeWriting`, refuses doubled
 * keys too: JSON.parse lets the last one win, and writing would lose the others. Throws a ProfileFileError.
 */
export async function readProfileFile(path: string, { beforeWriting = false } = {}): Promise<ProfileList> {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path); // a small file: loading node:fs/promises would take longer
  } catch (cause) {
    if (isSystemError(cause, 'ENOENT')) return noProfiles;
    throw new ProfileFileError(`${path}: cannot be read: ${describeSystemError(cause)}`, { cause });
  }
  const text = decode(bytes, path);
  const json = parseJson(text);
  if (json === undefined || beforeWriting) await refuseFaultyJson(text, path);
  return readProfiles(json, path);
}

/** The file's content, secrets in clear where they are kept there. */
export function formatProfileFile({ active, profiles }: ProfileList): JsonObject {
  const entries = [...profiles].map(([name, profile]) => [name, formatProfile(profile)] as const);
  return { active, profiles: Object.fromEntries(entries) };
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ProfileFileError(`${path}: is not UTF-8 text`, { hint: howToRepair });
  }
}

/** `undefined` for a text that is not JSON. V8's message is dropped: it quotes the text, which may be a secret. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function refuseFaultyJson(text: string, path: string): Promise<void> {
  const { findJsonFault } = await import('./json-fault.js');
  const fault = findJsonFault(text);
  if (fault === null) return;
  const problem = fault.doubled ? 'the same key stands twice' : 'is not JSON: the fault is';
  throw new ProfileFileError(`${path}: ${problem} at line ${fault.line}, column ${fault.column}`, {
    hint: howToRepair,
  });
}

function readProfiles(json: unknown, path: string): ProfileList {
  const profiles = new Map<string, Profile>();
  let place = path;
  try {
    const file = readObject(json, 'the file', ['active', 'profiles']);
    for (const [name, fields] of Object.entries(readObject(file.profiles, 'profiles'))) {
      place = `${path}: profile ${quoteName(name)}`;
      checkProfileName(name);
      profiles.set(name, parseProfile(name, fields));
    }
    place = path;
    return { active: readActive(file.active), profiles };
  } catch (error) {
    if (!(error instanceof InvalidInputError || error instanceof ProfileError)) throw error;
    throw new ProfileFileError(`${place}: ${error.message}`, { hint: error.hint ?? howToRepair });
  }
}

function readActive(active: unknown): string | null {
  if (active === undefined || active === null || typeof active === 'string') return active ?? null;
  throw new InvalidInputError('active is not text');
}
