// Apart from index.ts: only a run of the command loads it.
import type { ChalkInstance } from 'chalk';
import { type Platform, type PlatformFile, platformFields } from '../../../platform/platform.js';
import { httpStatusOf, resultCode } from '../../../protocol/result-codes.js';
import { formatTable } from '../../output/table.js';
import { showText } from '../../output/terminal-text.js';
import type { Break } from './breaks.js';
import type { Learned, Point } from './learn.js';
import type { Refusal } from './refusals.js';

/** The result of a probe, for programs. */
interface ProbeReport {
  /** The platform file: what was found, and the rest as it was. */
  readonly platform: PlatformFile;
  readonly refusals: readonly object[];
  readonly points: readonly object[];
  readonly breaks: readonly Break[];
}

/** A report for programs. */
export function probeRecord(learned: Learned, breaks: readonly Break[], platform: PlatformFile): ProbeReport {
  return {
    platform,
    refusals: learned.refusals.map(({ request, means, answer: { code, httpStatus, msg }, unclear }) => ({
      request,
      means,
      code,
      http_status: httpStatus,
      msg,
      unclear,
    })),
    points: learned.points.map(({ field, isFound, detail }) => ({
      field,
      found: isFound,
      ...(isFound && { value: learned.fields[field] ?? null }),
      detail,
    })),
    breaks,
  };
}

/** A report for a person: three tables. */
export function showFindings(
  learned: Learned,
  breaks: readonly Break[],
  { colors, columns }: { readonly colors: ChalkInstance; readonly columns: number | undefined },
): string {
  const table = (heading: string, head: string[], rows: readonly (readonly string[])[]) =>
    `${colors.bold(heading)}\n${formatTable(rows, columns, head)}`;
  const tables = [
    table('refusals (§7)', ['request', 'default', 'platform'], learned.refusals.map(refusalRow)),
    table(
      'open points',
      ['field', 'default', 'platform'],
      learned.points.map((point) => pointRow(point, learned.fields)),
    ),
    breaks.length === 0
      ? ''
      : table(
          'fixed rules that it breaks',
          ['§', 'answer', 'times'],
          breaks.map(({ section, what, answers }) => [section, showText(what), String(answers)]),
        ),
  ];
  return tables.filter((text) => text !== '').join('\n');
}

function refusalRow({ request, means, answer, unclear }: Refusal): string[] {
  const usual = resultCode[means];
  const { code, httpStatus, msg } = answer;
  const shown = [...(code === null ? [] : [code]), ...(msg === '' ? [] : [`"${msg}"`])].join(' ');
  const parts = [
    ...(shown === '' ? [] : [shown]),
    `HTTP ${httpStatus}`,
    ...(unclear === null ? [] : [unclear]),
  ];
  return [request, `${usual}, HTTP ${httpStatusOf(usual)}`, showText(parts.join(', '))];
}

function pointRow({ field, isFound, detail }: Point, fields: Partial<Platform>): string[] {
  const usual = platformFields[field].usual;
  const isLong = field === 'signing' || field === 'result_codes';
  const show = (value: unknown) => (isLong ? '' : JSON.stringify(value));
  const usualText = isLong ? 'those of this project' : show(usual);
  const foundText = [show(fields[field]), detail].filter((text) => text).join(': ');
  return [field, usualText, showText(isFound ? foundText : `not known: ${detail}`)];
}
