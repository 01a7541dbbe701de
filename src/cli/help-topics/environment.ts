import { secretVariable, settingNames } from '../../profiles/given-values.js';
import { formatColumns } from './columns.js';

const settings = Object.values(settingNames).map(
  ({ variable, words, flag }) => [variable, `${words}; ${flag} beats it`] as const,
);

/** Beside those that stand in for a flag. */
const others = [
  [secretVariable, 'app secret: no flag takes it'],
  ['USERINFO_OUTPUT', 'output format; -o and --json beat it'],
  ['USERINFO_CONFIG_DIR', 'folder of the profile file'],
] as const;

/** What other programs listen to as well. */
const shared = [
  ['HTTPS_PROXY, HTTP_PROXY', 'proxy for base URLs of https and of http'],
  ['NO_PROXY', 'hosts reached without: a.example,.example.com or *'],
  ['NODE_EXTRA_CA_CERTS', 'PEM file of authorities to trust too'],
  ['NO_COLOR, FORCE_COLOR', 'print without colours, or with, whatever stdout is'],
  ['TERM', 'dumb: print without colours'],
  ['NODE_DISABLE_COMPILE_CACHE', '1: keep no compiled code for the next start'],
  ['XDG_CONFIG_HOME', 'where the folder of the profile file is on Linux'],
  ['XDG_DATA_HOME', 'where the database of "userinfo serve" is on Linux'],
  ['XDG_CACHE_HOME', 'where compiled code is kept on Linux'],
] as const;

export const environmentTopic = `Environment variables

${formatColumns([...settings, ...others])}
A flag beats the variable, which beats the profile; an empty variable counts as
not set. With the base URL, tenant code, channel, app key and app secret all set
no profile is needed. "userinfo profile show" says where each value comes from.

${formatColumns(shared)}`;
