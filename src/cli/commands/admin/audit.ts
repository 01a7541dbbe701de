import { InvalidArgumentError } from 'commander';
import { withoutUndefined } from '../../../core/support/without-undefined.js';
import type { AuditFilter, AuditLine } from '../../../service/index.js';
import { parseDuration, parseFilled, parseLimit } from '../../command-line/options.js';
import { printList } from '../../output/print.js';
import { namedUser, takesNamedUser } from './named-user.js';
import { type StoreInvocation, storeCommand } from './store.js';

interface AuditOptions extends Pick<AuditFilter, 'action' | 'tenantCode' | 'appKey' | 'since'> {
  readonly limit: number | 'unlimited';
  readonly unionId?: string;
  readonly primaryKey?: string;
}

export const declareAudit = storeCommand({
  name: 'audit',
  common: ['output'],
  summary: 'list the last admin actions',
  takes: (command) =>
    takesNamedUser(
      command
        .option('--limit <n>', 'maximum number of actions, or "unlimited"', parseLimit, 100)
        .option(
          '--since <time>',
          'from a time on, such as 2026-11-22T14:03, or a duration ago, such as 24h',
          parseSince,
        )
        .option(
          '--action <action>',
          'an action alone, such as "user show"',
          parseFilled('--action'),
        )
        .option('--app-key <key>', 'actions on an app', parseFilled('--app-key'))
        .option('--tenant-code <code>', 'actions on a tenant', parseFilled('--tenant-code')),
    ),
  action: async ({ context, io, options, style, openStore }: StoreInvocation<AuditOptions>) => {
    const { limit, since, action, appKey, tenantCode } = options;
    const user = await namedUser(context, options);
    const filter = withoutUndefined({ limit, since, action, appKey, tenantCode, user });
    const store = await openStore();
    await printList(store.listAudit(filter), io, style, withoutDigest);
  },
});

/** A table has no room for it. */
function withoutDigest(line: object): object {
  const { user_digest: _, ...rest } = line as AuditLine;
  return rest;
}

const timePattern = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

const sinceForms =
  'Write it as 2026-11-22, 2026-11-22T14:03 or 2026-11-22T14:03:00Z, or as a duration, up to 24 days: 24h.';

/**
 * Unix time in seconds: of a date (in UTC), of a date and time (in the local zone, unless it names
 * one), or of a duration ago.
 */
function parseSince(text: string): number {
  const ms = timePattern.test(text) ? parseTime(text) : Date.now() - parseAge(text);
  return Math.floor(ms / 1000);
}

/** Milliseconds of Unix time. */
function parseTime(text: string): number {
  const ms = Date.parse(text.replace(' ', 'T'));
  if (Number.isNaN(ms)) throw new InvalidArgumentError(sinceForms);
  return ms;
}

/** Milliseconds ago. */
function parseAge(text: string): number {
  try {
    return parseDuration(text);
  } catch {
    throw new InvalidArgumentError(sinceForms);
  }
}
