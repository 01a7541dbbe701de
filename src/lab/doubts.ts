import type { RuleGroup } from './groups.js';
import type { LaterKind } from './later-requests.js';

/** What the samples cannot tell, and a request that would. */
export interface Doubt {
  /** What is in doubt, in a word. */
  readonly about: string;
  readonly says: string;
  /** Something that the user can do, as the end of "… settles it". */
  readonly settles: string;
  /**
   * The weight of the groups that differ from the likeliest there: how likely it is that its rule
   * fails.
   */
  readonly weight: number;
}

/** What is in doubt, in a word: a group is counted once, for the first in which it differs. */
const topics = {
  reads: {
    says: 'These requests do not show how every read is signed.',
    settles: 'Another read',
  },
  info_name: {
    says: 'Without info_name a request cannot show how its names are signed.',
    settles: 'A read with names',
  },
  scope: {
    says: 'Without scope a request cannot show whether it is signed.',
    settles: 'A read with a scope',
  },
  passbacks: {
    says: 'A read cannot show whether the fields of a passback are signed, and how.',
    settles: 'A passback',
  },
  primary_key: {
    says: 'Without primary_key a request cannot show how it is signed.',
    settles: 'A passback that names the user by a key',
  },
  encoding: {
    says: 'Plain values cannot show how a space, or characters such as * ~ ( ) and é, are encoded.',
    settles: 'A passback of a value such as "a b*c~d(e)é"',
  },
} as const satisfies Readonly<Record<string, Pick<Doubt, 'says' | 'settles'>>>;

/** What is in doubt where rules sign such a request in different ways. */
const topicOf: Readonly<Record<LaterKind, keyof typeof topics>> = {
  read: 'reads',
  'read by names': 'info_name',
  'read with scope': 'scope',
  'read by names with scope': 'scope',
  'read with special characters': 'encoding',
  'passback by user': 'passbacks',
  'passback by both': 'passbacks',
  'passback by key': 'primary_key',
  'passback with special characters': 'encoding',
};

/** Groups that are less likely together are no doubt. */
const leastWeight = 0.001;

/**
 * What the samples of these groups cannot tell; empty where one rule is left for all that userinfo
 * sends.
 */
export function doubtsOf(groups: readonly RuleGroup[]): Doubt[] {
  let rest = groups.slice(1);
  return Object.entries(topics).flatMap(([about, { says, settles }]) => {
    const differs = ({ differsIn }: RuleGroup) =>
      [...differsIn].some((kind) => topicOf[kind] === about);
    const weight = rest.filter(differs).reduce((sum, group) => sum + group.weight, 0);
    rest = rest.filter((group) => !differs(group));
    return weight < leastWeight ? [] : [{ about, says, settles, weight }];
  });
}
