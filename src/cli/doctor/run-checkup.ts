import type { CliContext } from '../context.js';
import type { CommonOptions, ConnectionOptions } from '../options.js';
import type { Checkup } from './checkup.js';
import { checkConnection, checkDns, checkProxy, checkTls } from './network-checks.js';
import { checkBaseUrl, checkProfileFile, checkSecret, checkSettings } from './profile-checks.js';
import { checkAcceptance, checkAnswer, checkClock, checkSigning } from './service-checks.js';

/** Everything between the profile and the service's answer, in the order in which a request meets it. */
export async function runCheckup(
  checkup: Checkup,
  context: CliContext,
  options: CommonOptions & ConnectionOptions,
): Promise<void> {
  await checkup.run('profile_file', () => checkProfileFile(context));
  const settings = await checkup.run('settings', () => checkSettings(context, options));
  const url = await checkup.after(settings, 'base_url', checkBaseUrl);
  const secret = await checkup.after(settings, 'app_secret', checkSecret);
  const way = await checkup.after(settings && url && { settings, url }, 'proxy', (known) =>
    checkProxy(context, known.settings, known.url, options.timeout),
  );
  const client = await checkup.after(settings && secret && way && { settings, secret }, 'signing', (known) =>
    checkSigning(context, known.settings, known.secret, options),
  );
  try {
    const found = await checkup.after(way, 'dns', checkDns);
    const socket = await checkup.after(found, 'connection', (known) =>
      checkConnection(known, context.steadyNow),
    );
    const reached = await checkup.after(socket && way && { socket, way }, 'tls', (known) =>
      checkTls(known.socket, known.way, context.now()),
    );
    const heard = await checkup.after(reached && client, 'answer', (known) => checkAnswer(known, context));
    await checkup.after(heard, 'clock', checkClock);
    await checkup.after(heard, 'acceptance', checkAcceptance);
  } finally {
    await client?.close();
  }
}
