import { Command } from 'commander';
import { secretVariable, settingNames } from '../../../profiles/flags-and-environment.js';
import { type ChatPrefix, specialInfoNames } from '../../../protocol/info-names.js';
import { defaultClockWindowSeconds } from '../../../protocol/limits.js';
import { specialUserInfoKeys } from '../../../protocol/user-info.js';
import { presets } from '../../../signing/presets.js';
import type { SigningRecipes } from '../../../signing/recipe.js';
import { sampleFormats } from '../../../signing-tools/samples/formats.js';
import { addBulkOptions, addPassbackManyOptions } from '../../bulk/bulk-options.js';
import { formatColumns } from '../../command-line/help-layout.js';
import { addConnectionOptions, type OutputFormat } from '../../command-line/options.js';
import { type ExitStatus, exitStatus } from '../../exit-status.js';
import { addServeOptions } from '../serve/index.js';

/** First those that replace a flag. */
const variables = [
  ...Object.values(settingNames).map(
    ({ variable, title, flag }) => [variable, `${title}; ${flag} overrides it`] as const,
  ),
  [secretVariable, 'app secret: no flag takes it'],
  ['USERINFO_DATABASE', 'database of serve and admin; or --database'],
  ['DATABASE_URL', 'the same, if USERINFO_DATABASE is not set'],
  ['USERINFO_NO_MIGRATE', '1: serve and admin refuse an older schema'],
  ['USERINFO_MASTER_KEY', 'keys that encrypt stored app secrets'],
  ['USERINFO_MASTER_KEY_FILE', 'file with these keys'],
  ['USERINFO_ADMIN_TOKEN', 'token (NEW,OLD: two) of POST /codes on --admin-port'],
  ['USERINFO_ADMIN_TOKEN_FILE', 'file with this token'],
  ['USERINFO_MAX_BODY', 'a setting of serve: see "userinfo help operation"'],
  ['USERINFO_QUEUE', 'queue of worker and runs; --queue overrides it'],
  ['USERINFO_OUTPUT', 'output format; -o and --json override it'],
  ['USERINFO_MASK', '1: mask personal data on a terminal, as --mask does'],
  ['USERINFO_CONFIG_DIR', 'folder of the profile file'],
] as const;

/** Variables that other programs use too. */
const shared = [
  ['HTTPS_PROXY, HTTP_PROXY', 'proxy for base URLs of https and of http'],
  ['NO_PROXY', 'hosts without proxy: a.example,.example.com or *'],
  ['NODE_EXTRA_CA_CERTS', 'PEM file of additional certificate authorities'],
  ['PGSSLMODE', 'TLS to PostgreSQL, as for psql'],
  ['NO_COLOR, FORCE_COLOR', 'no colours, colours; or --no-color, --color'],
  ['CLICOLOR, CLICOLOR_FORCE', '0: no colours; 1: force them'],
  ['TERM', 'dumb: print without colours'],
  ['NODE_DISABLE_COMPILE_CACHE', '1: do not cache compiled code'],
  ['XDG_CONFIG_HOME', 'parent of the configuration folder on Linux'],
  ['XDG_DATA_HOME', 'parent of the data folder on Linux'],
  ['XDG_CACHE_HOME', 'parent of the cache folder on Linux'],
] as const;

export const environmentTopic = `Environment variables

${formatColumns(variables)}
A flag overrides the variable, which overrides the profile; an empty variable
counts as not set. If the base URL, tenant code, channel, app key and app secret
are all set, no profile is needed. "userinfo profile show" shows the source of
each value.

${formatColumns(shared)}`;

/** The meaning of each exit status. */
export const exitMeanings: Readonly<Record<ExitStatus, string>> = {
  [exitStatus.success]: "success: the envelope's code is 200",
  [exitStatus.fault]: 'the output cannot be written, or a bug; --verbose shows where',
  [exitStatus.usage]: 'bad usage or input; nothing was sent',
  [exitStatus.profile]: 'profile or credentials',
  [exitStatus.rejected]: 'the service answered with another code',
  [exitStatus.noAnswer]: 'no valid answer (network, TLS, time-out, database), or too long a pause',
  [exitStatus.failedRows]: 'a bulk run with failed rows',
  [exitStatus.interrupted]: 'interrupted',
};

const exitCodesTopic = `Exit status of every command

${formatColumns(Object.entries(exitMeanings))}
A message on stderr says what went wrong and what to do next. A rejection (4) is
also printed to stdout, like any other answer; "userinfo explain <code>"
explains it. "userinfo sign verify" also ends with 4 if a signature is wrong.
`;

const formatMeanings: Readonly<Record<OutputFormat, string>> = {
  table: 'for people; the default',
  json: 'an answer byte for byte as it was received; a list is an array',
  ndjson: 'one line of JSON per record',
  yaml: 'the same data as YAML',
  csv: 'one row per record, one column per single value',
};

const outputTopic = `Output: -o <format>, --json for -o json, or USERINFO_OUTPUT

${formatColumns(Object.entries(formatMeanings))}
Data goes to stdout; messages, warnings and questions go to stderr. Numbers are
printed as they were received, however long (9007199254740993, 1.00).

csv prints the data of an answer, without its code and msg: the exit status
reflects them. A nested value has its path as the name of its column:
basic_info.mobile. A cell is the text as it was received, even if it begins
with =, +, - or @: a spreadsheet would run such a cell as a formula. Import the
columns as text.

On a terminal, control characters are printed as escapes such as \\u001b, in
every format. Files and pipes get the exact text; yaml always escapes such
characters, as YAML requires.

A table shows the first 8,192 characters of a long value, and its first 2,000
lines; it says how much it leaves out. The other formats print everything.

--query <expression> prints what a JMESPath expression (jmespath.org) selects
of the whole answer, or of the whole list, in any format:

  userinfo read "$code" --query data.basic_info.mobile
  userinfo read "$code" -o csv --query 'data.{id: union_id, level: level}'
  userinfo admin user list --tenant-code acme --query '[].union_id' --json

As a table, a single value is printed bare. In a query, numbers are those of
JavaScript: 1.00 is 1, and a number that JavaScript cannot hold exactly, such as
one beyond 2^53, becomes text ("9007199254740993"). An expression that does not
fit the answer ends with status 2, after the whole answer is printed.
`;

/** The description of the default preset of a signature, without the remark that it is the default. */
function describeDefault(name: keyof SigningRecipes): string {
  const ending = `. The default for ${name}.`;
  const preset = presets.find(({ description }) => description.endsWith(ending));
  return preset?.description.slice(0, -ending.length) ?? '';
}

const signingTopic = `How requests are signed

Each request carries two digests: app_sign and sign. How they are computed is
not in the platform's document; ask its operator, or find out from one request
that was accepted. A recipe describes it as data. A profile can have one for
each ("userinfo profile set --help" shows how), and so can an app of "userinfo
serve". The defaults are:

  app_sign  ${describeDefault('app_sign')}
  sign      ${describeDefault('sign')}

A recipe takes the parameters (query, then form; never the one that carries the
digest), writes them as one block, puts the block and other parts in the
message, and applies the digest steps to the message.

  userinfo sign explain read <code>     each stage, for a request like this
  userinfo sign verify <request>        whether a signed request is correct, and
                                        if not, which common mistake explains it
  userinfo sign solve <request>         the recipes by which a valid request was
                                        signed
  userinfo sign presets                 recipes in common use
  userinfo sign export --lang python    the recipes as source code of another
                                        language

The secret is never sent, never printed, and never accepted as an argument: it
is shown as <secret>. A retried request is signed again, with a new random and
timestamp. The service allows its clock and the caller's to differ by ${defaultClockWindowSeconds} s,
and accepts each random of an app once; "userinfo doctor" compares the clocks.
`;

const requestsTopic = `Requests that "userinfo sign solve", "verify" and "explain" read

A request is an argument, standard input (-) or a file (--sample):

${sampleFormats.map(({ name, from }) => `  ${name}\n      ${from}\n`).join('')}
The signature is the parameter, the header or the member of a JSON body that
--sign-param names. The headers of a request are signed values ($extra:NAME).
The parameters are those of the query, then those of a form. The members of a
JSON body are parameters if the signature is one of them, or if it is in a
header and there are no other parameters.

If a text has one signed request, that one is taken, and a message says which.
If it has several, they are listed; choose with --pick.
`;

/** The options that `add` adds under a heading, as the help of a command without pages shows them. */
function describeOptions(add: (command: Command) => Command, heading: string): string {
  const help = add(new Command()).helpOption(false).helpInformation();
  return `${help.split(/\n\n/).find((section) => section.startsWith(heading))}\n`;
}

const connectionTopic = `The deployment that a command calls

${describeOptions(addConnectionOptions, 'Connection:')}
Each value comes from its option, else from its environment variable ("userinfo
help environment"), else from the profile: the one of -p or USERINFO_PROFILE,
else the active one. "userinfo profile show" shows the values in force and where
each is from. The app secret has no option: see "userinfo profile add --help".
`;

const operationTopic = `Settings of "userinfo serve" in operation

${describeOptions(addServeOptions, 'Operation:')}
A setting is a flag, else a variable: USERINFO_MAX_BODY for --max-body.
`;

const bulkTopic = `Bulk runs: userinfo read --from, userinfo passback --from

${describeOptions(addBulkOptions, 'Bulk runs:')}
Of passback:
${describeOptions(addPassbackManyOptions, 'Options:').replace(/^.*\n/, '')}
All rows are checked before the first is sent. The results have a line for each
row; --resume continues a run that stopped, and sends no finished row again.
`;

function infoNamesTopic(prefix: ChatPrefix): string {
  return `Names and keys with a special meaning

Names that "userinfo read" can request:

${formatColumns(Object.entries(specialInfoNames(prefix)))}
Keys that "userinfo passback" can write:

${formatColumns(Object.entries(specialUserInfoKeys))}
Any other name is a key that an application passed back, such as acme_level.
`;
}

/** A page of `userinfo help`; `prefix` is that of the names of the chat platform. */
export function topicPage(topic: HelpTopic, prefix: ChatPrefix): string {
  return topic === 'info-names' ? infoNamesTopic(prefix) : topics[topic];
}

export type HelpTopic = keyof typeof topics | 'info-names';

const topics = {
  bulk: bulkTopic,
  connection: connectionTopic,
  environment: environmentTopic,
  'exit-codes': exitCodesTopic,
  operation: operationTopic,
  output: outputTopic,
  requests: requestsTopic,
  signing: signingTopic,
};
