import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printedBy } from '../support/cli.js';
import { commands, completeHelps, examplesIn } from '../support/help-texts.js';
import { firstUser, ServedMachine } from '../support/served.js';

let machine: ServedMachine;

beforeAll(async () => {
  machine = await ServedMachine.create();
});
afterAll(() => machine[Symbol.asyncDispose]());

/** In the order in which a newcomer would come to need them; what deletes comes last. */
const story = `admin migrate, admin app create, admin app list,
  admin user put, admin user find, admin user show, admin user list, admin user digest,
  admin code issue, admin code list, admin code revoke, passback, read, bulk passback, bulk read,
  demo, explain, doctor, probe, completion,
  sign explain read, sign explain passback, sign explain, sign verify, sign solve, sign try,
  sign presets, sign export,
  profile path, profile add, profile list, profile show,
  profile use, profile set, profile export, profile import, profile rename, profile delete,
  admin app rotate-secret, admin app retire-secret, admin app set, admin app encrypt-secrets,
  admin app disable, admin app enable, admin audit, admin app delete, admin user delete`.split(
  /,\s+/,
);

/**
 * These ask questions, need a captured request, or lock the database for the others: they have
 * tests of their own.
 */
const interactive = [
  'userinfo sign try -p local',
  'userinfo sign solve --sample captured.txt --recipe partial.json',
  'userinfo profile add shop',
  'userinfo profile add shop --from captured.txt',
  'userinfo profile add shop --like shop-test',
  'userinfo profile import shop-test.json',
  'userinfo profile delete shop-test',
  'userinfo admin app delete --app-key app-1',
  'userinfo admin user delete --tenant-code acme --union-id u001',
  'USERINFO_MASTER_KEY_FILE=master.key userinfo admin app encrypt-secrets',
  'USERINFO_MASTER_KEY_FILE=new-and-old.key userinfo admin app encrypt-secrets',
];

describe('the examples of help', () => {
  it('are all run by the next test, except those of serve', () => {
    expect(new Set([...story, 'serve'])).toEqual(
      new Set(commands.map((command) => command.join(' '))),
    );
  });

  it('work when pasted', { timeout: 240_000 }, async () => {
    const env = { XDG_DATA_HOME: `${machine.folder}/data`, SHOP_SECRET: 'never-to-be-seen-4711' };
    const paste = async (line: string) => {
      const issue = 'code=$(userinfo admin code issue --tenant-code acme --union-id u001)';
      const needsCode = line.includes('"$code"') && !line.includes('code=');
      const { status, stderr } = await machine.shell(needsCode ? `${issue}; ${line}` : line, {
        env,
      });
      expect(status, `${line}\n${stderr}`).toBe(0);
    };
    // What the examples take for granted: an app and a user in f.db too, a service on the default
    // database.
    const app = '--tenant-code acme --channel web --app-key app-1';
    await paste(`userinfo admin app create ${app} --database f.db`);
    const putFirstUser = `echo '${JSON.stringify(firstUser)}' | userinfo admin user put`;
    await paste(`${putFirstUser} --database f.db`);
    await paste('userinfo profile delete local --yes'); // of another service: it would not be overwritten
    const service = machine.start(['serve', '--port', '0'], { env });
    const [, url = ''] = await printedBy(service, /listening on (http:\S+)/);
    try {
      for (const name of story) {
        for (const line of examplesIn(completeHelps.get(name) ?? '')) {
          if (interactive.includes(line)) continue;
          await paste(line);
          if (name === 'admin app create')
            await paste(`userinfo profile set local --base-url ${url}`);
          if (name === 'profile path') await paste('userinfo profile use local');
        }
        if (name === 'admin user put') await paste(putFirstUser); // with the mobile number that others name
        if (name === 'profile add') {
          await paste(
            'userinfo profile add shop --base-url https://example.com --tenant-code acme --channel web --app-key a --app-secret-env S',
          );
        }
      }
    } finally {
      service.kill();
    }
  });

  it('of serve start the service', { timeout: 60_000 }, async () => {
    writeFileSync(join(machine.folder, 'platform.json'), '{"http_status":200}');
    for (const line of examplesIn(completeHelps.get('serve') ?? '')) {
      if (line.includes('postgres://')) continue; // needs that server; several-processes.test.ts has one
      // A free port: others may hold the one that the example leaves to the default.
      const service = machine.start([...line.split(' ').slice(1), '--port', '0'], {
        env: { XDG_DATA_HOME: `${machine.folder}/data` },
      });
      await printedBy(service, /listening on http:/);
      const ended = new Promise((resolve) => service.once('exit', resolve));
      service.kill();
      expect(await ended).toBe(0);
    }
  });
});
