/** A prefix of the names of the chat platform. */
export type ChatPrefix = `${string}_`;

/** §2.2: the prefix of the spec is neutral; a deployment has its own. */
export const neutralChatPrefix = 'chat_';

/** What a prefix looks like. */
export const chatPrefixPattern = /^[A-Za-z][A-Za-z0-9]{0,30}_$/;
