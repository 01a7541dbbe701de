import {
  argumentText,
  type Documented,
  group,
  groups,
  inGroup,
  optionText,
} from '../../scripts/docs/commands.js';
import { exitMeanings, topicPage } from '../../src/cli/commands/help/topics.late.js';
import { entryOf, httpStatusOf, resultCodes } from '../../src/protocol/result-codes.js';
import { algorithms, outputs } from '../../src/signing/digest-algorithms.js';
import { blockEncodings, cases, textEncodings } from '../../src/signing/encodings.js';
import { presets } from '../../src/signing/presets.js';
import { emptyRules, jsonTexts, keyDecodings, orders, recipeDefaults } from '../../src/signing/recipe.js';
import {
  modifierTexts,
  type Source,
  stepTexts,
  tokenForm,
  tokenTexts,
} from '../../src/signing/recipe-language.js';
import { sampleFormats } from '../../src/signing-tools/samples/formats.js';
import { digestModifierText, digestStepText, fieldTexts } from './recipe-fields.js';

const linkTo = (name: string) => `[${name}](${group(name)}.md#${name.replaceAll(' ', '-')})`;

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows.map((row) => row.map(cell))];
  return lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
}

const made = '<!-- Made by `npm run docs` from the code. -->\n\n';

/** The pages of docs/reference, by file name. */
export function referencePages(commands: readonly Documented[]): Map<string, string> {
  const pages = new Map(Object.keys(groups).map((name) => [`${name}.md`, groupPage(name, commands)]));
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
    const { msg, meaning, fix, hint, retry } = entryOf(code);
    return [`\`${code}\``, msg, String(httpStatusOf(code)), meaning, fix, hint, retry];
  });
  const heads = ['code', 'msg', 'HTTP', 'meaning', 'who can fix it', 'what to do', 'try again'];
  pages.set('result-codes.md', `${made}# Result codes\n\n${table(heads, codes)}`);
  const rules = presets.map(({ name, description }) => [`\`${name}\``, description]);
  pages.set('presets.md', `${made}# Signing presets\n\n${table(['preset', 'rule'], rules)}`);
  pages.set('recipes.md', recipesPage());
  const formats = sampleFormats.map(({ name, from }) => [name, from]);
  pages.set('requests.md', `${made}# Requests that can be read\n\n${table(['format', 'from'], formats)}`);
  pages.set('README.md', indexPage(commands));
  return pages;
}

function indexPage(commands: readonly Documented[]): string {
  const rows = commands.map(({ name, summary }) => [linkTo(name), summary]);
  return `${made}# Reference

[Exit statuses](exit-codes.md) · [environment variables](environment.md) · [result codes](result-codes.md) ·
[recipes](recipes.md) · [signing presets](presets.md) · [requests](requests.md) ·
[info names](info-names.md)

${table(['command', 'what it does'], rows)}`;
}

/** The language of recipes, from the list that the hints of its errors come from. */
function recipesPage(): string {
  const { params, encode, key, ...others } = recipeDefaults;
  const defaults: Readonly<Record<string, unknown>> = {
    ...others,
    ...Object.fromEntries(
      Object.entries({ params, encode, key }).flatMap(([name, fields]) =>
        Object.entries(fields).map(([field, value]) => [`${name}.${field}`, value]),
      ),
    ),
  };
  const code = (text: string) => `\`${text}\``;
  const choices: Readonly<Record<string, readonly string[]>> = {
    'params.empty': emptyRules,
    'params.order': orders,
    'params.json': jsonTexts,
    'params.encode': textEncodings,
    'params.case': cases,
    'params.nameCase': cases,
    'encode.block': blockEncodings,
    'encode.message': textEncodings,
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

In \`message\`, \`params.add\`, \`params.pairEnd\`, \`sub.NAME.message\`, \`key.tokens\`, and the text of steps. \`$$\` is a dollar sign;
\`\${secret}\` separates a token from the text after it, and \`\${param:NAME}\` takes any name. \`$[?$query|none]\` is a text
around one token if that has a value, and the text behind \`|\`, or nothing, if it is empty or missing.

${table(
  ['token', 'stands for'],
  (Object.keys(tokenTexts) as Source[]).map((source) => [code(tokenForm(source)), tokenTexts[source]]),
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

/** The commands of a group, each with a section. */
function groupPage(name: string, commands: readonly Documented[]): string {
  const sections = inGroup(commands, name).map(commandSection);
  const options = name === 'userinfo' ? [] : ['Options of every command: [userinfo](userinfo.md#userinfo).'];
  const title = name === 'userinfo' ? 'Every command' : `Commands: ${name}`;
  return `${[`${made}# ${title}`, ...options, ...sections].join('\n\n')}\n`;
}

function commandSection({ name, usage, description, args, options, after }: Documented): string {
  const parts = [`## ${name}`, description, `\`\`\`text\n${usage}\n\`\`\``];
  const rows = [
    ...args.map((argument) => [`\`${argument.name()}\``, argumentText(argument)]),
    ...options.map((option) => [`\`${option.flags}\``, optionText(option)]),
  ];
  if (rows.length > 0) parts.push(table(['argument or option', 'meaning'], rows).trimEnd());
  if (after !== '') parts.push(`\`\`\`text\n${after}\n\`\`\``);
  return parts.join('\n\n');
}
