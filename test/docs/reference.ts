import { PassThrough } from 'node:stream';
import type { Argument, Command, Option } from 'commander';
import { createContext } from '../../src/cli/command.js';
import { addTexts } from '../../src/cli/command-line/command-texts.late.js';
import { exitMeanings, topicPage } from '../../src/cli/commands/help/topics.late.js';
import { buildProgram } from '../../src/cli/program.js';
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
import { errorTexts } from './messages.js';
import { digestModifierText, digestStepText, fieldTexts } from './recipe-fields.js';

/** A command with what its help says. */
interface Documented {
  /** Such as `userinfo admin code issue`. */
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly description: string;
  readonly args: readonly Argument[];
  readonly options: readonly Option[];
  /** What the help says below the options: examples, and what else there is to know. */
  readonly after: string;
  readonly isGroup: boolean;
}

/** The commands, each before its subcommands. */
export async function documentedCommands(): Promise<Documented[]> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env: {} } as unknown as Parameters<typeof createContext>[0];
  const program = await buildProgram(createContext(io, new AbortController().signal, []), []);
  addTexts(program);
  return below(program, 'userinfo');
}

function below(command: Command, name: string): Documented[] {
  const help = command.createHelp();
  const commands = help
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help' || name === 'userinfo');
  const own = {
    name,
    usage: `${name} ${command.usage()}`.trim(),
    summary: command.summary() || command.description(),
    description: command.description(),
    args: help.visibleArguments(command),
    options: help.visibleOptions(command).filter(({ long }) => long !== '--help'),
    after: textAfter(command),
    isGroup: commands.length > 0,
  };
  return [own, ...commands.flatMap((one) => below(one, `${name} ${one.name()}`))];
}

/** What `addHelpText` put behind the help. */
function textAfter(command: Command): string {
  let text = '';
  const { writeOut } = command.configureOutput();
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  command.configureOutput(writeOut === undefined ? {} : { writeOut });
  return text.slice(text.lastIndexOf(command.helpInformation()) + command.helpInformation().length).trim();
}

/** The pages of commands, each with what it is about, and the man pages; what is on no other page is on `userinfo`. */
const groups: Readonly<Record<string, string>> = {
  userinfo: 'options of every command, and what helps with the others',
  read: 'read the information of users',
  passback: 'pass information about users back',
  profile: 'base URLs and credentials of your deployments',
  sign: 'signing rules',
  service: 'run the service',
  admin: 'apps, users and codes of the service',
  runs: 'bulk runs over a queue',
};

/** The group of commands that are not below a command of its name. */
const groupOf: Readonly<Record<string, string>> = { serve: 'service', migrate: 'service', worker: 'runs' };

function group(name: string): string {
  const words = name.split(' ').slice(1);
  const found = words.map((word) => groupOf[word] ?? word).filter((word) => Object.hasOwn(groups, word));
  return found.at(-1) ?? 'userinfo';
}

const inGroup = (commands: readonly Documented[], name: string) =>
  commands.filter((command) => group(command.name) === name);

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
  pages.set('messages.md', messagesPage());
  pages.set('README.md', indexPage(commands));
  return pages;
}

function indexPage(commands: readonly Documented[]): string {
  const rows = commands.map(({ name, summary }) => [linkTo(name), summary]);
  return `${made}# Reference

[Exit statuses](exit-codes.md) · [environment variables](environment.md) · [result codes](result-codes.md) ·
[error messages](messages.md) · [recipes](recipes.md) · [signing presets](presets.md) · [requests](requests.md) ·
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

function messagesPage(): string {
  const sections = [...errorTexts()].map(([folder, errors]) => {
    const rows = errors.map(({ message, advice }) => [
      `\`${message}\``,
      [...advice].join(' · ').replaceAll('<', '\\<'),
    ]);
    return `## ${areas[folder] ?? folder}\n\n${table(['message', 'what to do'], rows)}`;
  });
  return `${made}# Error messages

Search this page for words of the message. \`…\` stands for what differs: a name, a number, a path, a reason. Several
pieces of advice have a · between them: the program prints those that fit. Where there is none, correct what the
message names. [Troubleshooting](../troubleshooting.md) says more about the frequent ones.

${sections.join('\n')}`;
}

/** What the errors of a folder of src are about. */
const areas: Readonly<Record<string, string>> = {
  bulk: 'Bulk runs',
  cli: 'Command line',
  client: 'Calls and client options',
  database: 'Database',
  profiles: 'Profiles, secrets, signing modules',
  protocol: 'Requests and records',
  queue: 'Runs over a queue',
  service: 'Service and administration',
  signing: 'Recipes and samples',
  solve: 'Search for a recipe',
  support: 'Files and packages',
};

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

function argumentText(argument: Argument): string {
  return withChoices(argument.description, argument.argChoices, argument.defaultValueDescription);
}

function optionText({
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
  negate,
}: Option): string {
  const isShown = defaultValue !== undefined && typeof defaultValue !== 'boolean' && !negate;
  return withChoices(
    description,
    argChoices,
    defaultValueDescription ?? (isShown ? String(defaultValue) : undefined),
  );
}

function withChoices(
  text: string,
  choices: readonly string[] | undefined,
  usual: string | undefined,
): string {
  const more = [
    ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
    ...(usual === undefined ? [] : [`default: ${usual}`]),
  ];
  return more.length === 0 ? text : `${text} (${more.join('; ')})`;
}

/** The man pages, in the language of man(7), by file name. */
export function manPages(commands: readonly Documented[]): Map<string, string> {
  const page = (name: string) => (name === 'userinfo' ? name : `userinfo-${name}`);
  const others = Object.keys(groups).map((name) => `.BR ${roff(page(name))} (1)`);
  return new Map(
    Object.entries(groups).map(([name, about]) => {
      const lines = [
        `.TH ${page(name).toUpperCase()} 1 "" userinfo`,
        '.SH NAME',
        `${roff(page(name))} \\- ${roff(about)}`,
        ...(name === 'userinfo' ? ['.SH SYNOPSIS', '.B userinfo', '[options] command [arguments]'] : []),
        '.SH COMMANDS',
        ...inGroup(commands, name)
          .filter(({ isGroup }) => !isGroup || name === 'userinfo')
          .flatMap(manCommand),
        ...(name === 'userinfo' ? manFacts() : []),
        '.SH SEE ALSO',
        ...others.filter((other) => !other.includes(` ${roff(page(name))} `)),
      ];
      return [`${page(name)}.1`, `${lines.join('\n')}\n`];
    }),
  );
}

function manFacts(): string[] {
  return [
    '.SH INFO NAMES',
    '.nf',
    ...topicPage('info-names', 'chat_').trimEnd().split('\n').slice(2).map(roff),
    '.fi',
    '.SH EXIT STATUS',
    ...Object.entries(exitMeanings).flatMap(([status, meaning]) => ['.TP', `.B ${status}`, roff(meaning)]),
    '.SH ENVIRONMENT',
    '.nf',
    ...topicPage('environment', 'chat_').trimEnd().split('\n').slice(2).map(roff),
    '.fi',
  ];
}

function manCommand({ usage, description, args, options, after }: Documented): string[] {
  return [
    `.SS ${roff(usage)}`,
    roff(description),
    ...args.flatMap((argument) => ['.TP', `.I ${roff(argument.name())}`, roff(argumentText(argument))]),
    ...options.flatMap(manOption),
    ...(after === '' ? [] : ['.PP', '.nf', ...after.split('\n').map(roff), '.fi']),
  ];
}

function manOption(option: Option): string[] {
  return ['.TP', `.B ${roff(option.flags)}`, roff(optionText(option))];
}

function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/, '\\&$1')
    .replaceAll('\n', ' ');
}
