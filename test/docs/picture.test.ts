import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BrowserPage, findChromium } from '../support/chromium.js';
import { ServedMachine } from '../support/served.js';
import { showsSame } from './page.js';
import { recordTerminal, textOf } from './picture.js';

const file = join(import.meta.dirname, '..', '..', 'docs', 'pictures', 'terminal.svg');

// `npm run docs` draws it anew where the text has changed.
it.skipIf(process.platform !== 'linux')(
  'the picture of the terminal shows what is printed (needs Linux)',
  async () => {
    const add = (name: string, file: string, environment: string) =>
      `userinfo profile add ${name} --from ${file} --environment ${environment} --app-secret-env PLATFORM_SECRET --yes`;
    const preparations = [
      add('shop-test', 'test-request.txt', 'test'),
      add('shop', 'captured.txt', 'production'),
      'code=$PLATFORM_CODE',
    ];
    const page = `api.example.com\n${preparations.map((command) => `<!-- run: ${command} -->\n`).join('')}`;
    const drawn = await recordTerminal(page, [
      'userinfo read "$code" mobile,chat_nickname --mask',
      'userinfo passback acme_level=gold age:=28 --union-id u001',
      'userinfo profile use shop',
      'userinfo passback acme_level=gold --union-id u001',
    ]);
    const known = existsSync(file) ? readFileSync(file, 'utf8') : '';
    await expect(showsSame(textOf(known), textOf(drawn)) ? known : drawn).toMatchFileSnapshot(file);
  },
);

const chromium = findChromium();
const isWanted = chromium !== undefined && process.env.USERINFO_PICTURES === '1';

// `USERINFO_PICTURES=1 npm run docs` takes them anew: a picture cannot be compared.
it.runIf(isWanted)(
  'the page of the service is photographed, light and dark (needs Chromium and USERINFO_PICTURES=1)',
  async () => {
    await using machine = await ServedMachine.create();
    const app = ['-p', 'local'];
    await machine.run([...app, 'passback', 'acme_level=gold', '--union-id', 'u001']);
    await machine.run([...app, 'read', await machine.issueCode(), 'mobile']);
    const profiles = JSON.parse(readFileSync(machine.profileFile, 'utf8'));
    const env = { USERINFO_APP_SECRET: `${profiles.profiles.local.secret.value} ` };
    await machine.run([...app, 'passback', 'acme_level=gold', '--union-id', 'u001'], { env });
    await using page = await BrowserPage.open(chromium ?? '', machine.url);
    await expect
      .poll(() => page.evaluate("document.querySelectorAll('tbody').length"))
      .toBeGreaterThan(2);
    await page.evaluate(
      "document.querySelectorAll('details').forEach((one) => { one.open = true; })",
    );
    const still = { name: 'prefers-reduced-motion', value: 'reduce' };
    for (const value of ['light', 'dark']) {
      await page.call('Emulation.setEmulatedMedia', {
        features: [{ name: 'prefers-color-scheme', value }, still],
      });
      await page.call('Emulation.setDeviceMetricsOverride', {
        ...{ width: 960, height: 640, deviceScaleFactor: 1, mobile: false },
      });
      const { result } = await page.call('Page.captureScreenshot', { format: 'png' });
      writeFileSync(
        join(file, '..', `page-${value}.png`),
        Buffer.from(result?.data ?? '', 'base64'),
      );
    }
  },
);
