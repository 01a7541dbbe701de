// The TAB key and help read the file without checking it, and do without it if they cannot.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ChatPrefix,
  chatPrefixPattern,
  neutralChatPrefix,
} from '../core/contract/chat-prefix.js';
import { isProfileName, profileFileName } from '../core/profiles/profile-name.js';
import { decodeText } from '../core/support/byte-order-mark.js';
import { configFolder } from '../core/support/folders.js';

/** The part of the profiles that the TAB key and help show. */
interface ProfileOutline {
  readonly names: readonly string[];
  /** The prefix of the names of the chat platform in the profile that is used (§2.2). */
  readonly chatPrefix: ChatPrefix;
}

/** The outline of the stored profiles; `profile` is the name that an option gives. */
export function profileOutline(
  env: Readonly<Record<string, string | undefined>>,
  profile?: string,
): ProfileOutline {
  try {
    const path = join(configFolder(env), profileFileName);
    // The TAB key loads no `readInputFile`, but may not hang at a pipe.
    const text = statSync(path).isFile() ? decodeText(readFileSync(path)) : '';
    const { active, profiles } = JSON.parse(text);
    const { chat_prefix } = profiles[profile || env.USERINFO_PROFILE || active]?.platform ?? {};
    const chatPrefix = chatPrefixPattern.test(chat_prefix) ? chat_prefix : neutralChatPrefix;
    return { names: Object.keys(profiles).filter(isProfileName), chatPrefix };
  } catch {
    return { names: [], chatPrefix: neutralChatPrefix };
  }
}
