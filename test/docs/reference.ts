import {
  argumentText,
  type Documented,
  group,
  groups,
  inGroup,
  optionText,
} from '../../scripts/docs/commands.js';
import { exitMeanings, topicPage } from '../../src/cli/commands/help/topics.late.js';
import {
  httpStatusOf,
  resultCodeEntry,
  resultCodes,
} from '../../src/core/contract/result-codes.js';
import { algorithms, outputs } from '../../src/core/signing/digest-algorithms.js';
import { textEncodings } from '../../src/core/signing/encodings.js';
import { presets } from '../../src/core/signing/presets.js';
import {
  emptyRules,
  keyDecodings,
  nameCases,
  orders,
  paramsSources,
  recipeDefaults,
} from '../../src/core/signing/recipe.js';
import {
  modifierTexts,
  type Source,
  stepTexts,
  tokenForm,
  tokenTexts,
} from '../../src/core/signing/recipe-language.js';
import { sampleFormats } from '../../src/lab/samples/formats.js';
import { digestModifierText, digestStepText, fieldTexts } from './recipe-fields.js';

const linkTo = (name: string) =>
  `[${name.replace(/^userinfo /, '')}](${group(name)}.md#${name.replaceAll(' ', '-')})`;

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows.map((row) => row.map(cell))];
  return lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
}

const made = '<!-- Made by `npm run docs` from the code. -->\n\n';

/** The pages of docs/reference, by file name. */
export function referencePages(commands: readonly Documented[]): Map<string, string> {
  const pages = new Map(
    Object.keys(groups).map((name) => [`${name}.md`, groupPage(name, commands)]),
  );
  const statuses = table(['status', 'meaning'], Object.entries(exitMeanings));
  pages.set('exit-codes.md', `${made}# Exit statuses\n\n${statuses}`);
  const variables = topicPage('environment', 'chat_').replace(/^.*\n\n/, '');
  pages.set('environment.md', `${made}# Environment variables\n\n\`\`\`text\n${variables}\`\`\`\n`);
  const names = topicPage('info-names', 'chat_').replace(/^.*\n\n/, '');
  pages.set(
    'info-names.md',
    `${made}# Names and keys with a special meaning\n\n\`\`\`text\n${names}\`\`\`\n`,
  );
  const codes = resultCodes.map((code) => {
    const { msg, meaning, fix, hint, retry } = resultCodeEntry(code);
    return [`\`${code}\``, msg, String(httpStatusOf(code)), meaning, fix, hint, retry];
  });
  const heads = ['code', 'msg', 'HTTP', 'meaning', 'who can fix it', 'what to do', 'try again'];
  pages.set('result-codes.md', `${made}# Result codes\n\n${table(heads, codes)}`);
  const rules = presets.map(({ name, description }) => [`\`${name}\``, description]);
  pages.set('presets.md', `${made}# Signing presets\n\n${table(['preset', 'rule'], rules)}`);
  pages.set('recipes.md', recipesPage());
  const formats = sampleFormats.map(({ name, from }) => [name, from]);
  pages.set(
    'requests.md',
    `${made}# Requests that can be read\n\n${table(['format', 'from'], formats)}`,
  );
  pages.set('README.md', indexPage(commands));
  return pages;
}

/** A group has a section where it has something of its own to say. */
const hasSection = ({ isGroup, options }: Documented) => !isGroup || options.length > 0;

function indexPage(commands: readonly Documented[]): string {
  const rows = Object.entries(groups).map(([name, about]) => {
    const links = inGroup(commands, name)
      .filter(hasSection)
      .map((command) => linkTo(command.name));
    return [about, links.join(', ')];
  });
  return `${made}# Reference

[Exit statuses](exit-codes.md) · [environment variables](environment.md) · [result codes](result-codes.md) ·
[recipes](recipes.md) · [signing presets](presets.md) · [requests](requests.md) · [info names](info-names.md)

\`userinfo COMMAND --help\` and the man pages have examples, too.

${table(['for', 'commands'], rows)}`;
}

/** The language of recipes, from the list that the hints of its errors come from. */
function recipesPage(): string {
  const { params, key, ...others } = recipeDefaults;
  const defaults: Readonly<Record<string, unknown>> = {
    ...others,
    ...Object.fromEntries(
      Object.entries({ params, key }).flatMap(([name, fields]) =>
        Object.entries(fields).map(([field, value]) => [`${name}.${field}`, value]),
      ),
    ),
  };
  const code = (text: string) => `\`${text}\``;
  const choices: Readonly<Record<string, readonly string[]>> = {
    'params.from': paramsSources,
    'params.empty': emptyRules,
    'params.order': orders,
    'params.encode': textEncodings,
    'params.nameCase': nameCases,
    'key.decode': keyDecodings,
    output: outputs,
  };
  const fieldRows = Object.entries(fieldTexts).map(([field, about]) => {
    const value = defaults[field];
    const allowed = choices[field]?.map(code).join(' ');
    const text = allowed === undefined ? about : `${about}: ${allowed}`;
    return [
      code(field),
      text,
      value === undefined ? '' : value === '' ? 'nothing' : code(JSON.stringify(value)),
    ];
  });
  const digests = algorithms.map((name) => code(`.${name}`)).join(' ');
  const steps = algorithms.flatMap((name) => [name, `hmac-${name}`]).map(code);
  return `${made}# Recipes

[Signing](../signing.md#recipes) says what a recipe is. This page has every part of the language.

## Fields

In the order of computation: parameters are selected, added, sorted and written, then the message is made and digested.

${table(['field', 'meaning', 'default'], fieldRows)}
## Tokens

In \`message\`, \`params.add\`, \`key.tokens\`, and the text of steps. \`$$\` is a dollar sign; \`\${secret}\` separates a token
from the text after it, and \`\${param:NAME}\` takes any name.

${table(
  ['token', 'stands for'],
  (Object.keys(tokenTexts) as Source[]).map((source) => [
    code(tokenForm(source)),
    tokenTexts[source],
  ]),
)}
Behind a token stand its modifiers, from left to right: \`$secret.md5.upper\`.

${table(
  ['modifier', 'gives'],
  [
    [digests, digestModifierText],
    ...Object.entries(modifierTexts).map(([name, about]) => [code(`.${name}`), about]),
  ],
)}
## Steps

${table(
  ['step', 'gives'],
  [
    [steps.join(' '), digestStepText],
    ...Object.values(stepTexts).map(({ form, about }) => [code(form), about]),
  ],
)}`;
}

/** A row of a table of options. */
type Row = readonly [name: string, meaning: string];

const rowOf = (option: Documented['options'][number]): Row => [
  `\`${option.flags}\``,
  optionText(option),
];

/** The rows of options that three commands or more have with the same meaning. */
function sharedRows(commands: readonly Documented[]): Map<string, Row> {
  const counts = new Map<string, { row: Row; count: number }>();
  for (const row of commands.flatMap(({ options }) => options.map(rowOf))) {
    const key = row.join(' ');
    counts.set(key, { row, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const shared = [...counts].filter(([, { count }]) => count >= 3);
  return new Map(shared.map(([key, { row }]) => [key, row]));
}

const sharedHeading = 'Options of several commands';
const sharedLink = `[options of several commands](userinfo.md#${sharedHeading.toLowerCase().replaceAll(' ', '-')})`;

/** The commands of a group, each with a section; examples are in the help and the man page. */
function groupPage(name: string, commands: readonly Documented[]): string {
  const shared = sharedRows(commands);
  const own = inGroup(commands, name).filter(hasSection);
  const sections = own.map((command) => commandSection(command, shared));
  if (name !== 'userinfo') {
    const intro = `Options of every command: [userinfo](userinfo.md#userinfo).`;
    return `${[`${made}# Commands: ${name}`, intro, ...sections].join('\n\n')}\n`;
  }
  const options = table(['option', 'meaning'], [...shared.values()]).trimEnd();
  return `${[`${made}# Every command`, ...sections, `## ${sharedHeading}`, options].join('\n\n')}\n`;
}

function commandSection(command: Documented, shared: ReadonlyMap<string, Row>): string {
  const { name, usage, description, args, options, after } = command;
  const parts = [`## ${name}`, description];
  if (args.length > 0) parts.push(`\`\`\`text\n${usage}\n\`\`\``);
  const rows = options.map(rowOf);
  const isShared = (row: Row) => shared.has(row.join(' '));
  const own = [
    ...args.map((argument): Row => [`\`${argument.name()}\``, argumentText(argument)]),
    ...rows.filter((row) => !isShared(row)),
  ];
  if (own.length > 0) parts.push(table(['argument or option', 'meaning'], own).trimEnd());
  const others = options
    .filter((option) => isShared(rowOf(option)))
    .map(({ long, helpGroupHeading }) =>
      helpGroupHeading === 'Connection:' ? 'those of the connection' : `\`${long}\``,
    );
  if (others.length > 0) parts.push(`Also ${[...new Set(others)].join(', ')}: ${sharedLink}.`);
  const notes = after.replace(/^(?:\w.* )?Examples:[\s\S]*/m, '').trim();
  if (notes !== '') parts.push(`\`\`\`text\n${notes}\n\`\`\``);
  return parts.join('\n\n');
}
