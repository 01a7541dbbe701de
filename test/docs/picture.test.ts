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
    const page =
      '<!-- run: userinfo serve --demo -->\n<!-- run: userinfo passback age:=28 --union-id u001 -->\n';
    const drawn = await recordTerminal(page, [
      'userinfo passback acme_level=gold --union-id u001',
      'code=$(userinfo admin code issue --tenant-code acme --union-id u001)',
      'userinfo read "$code" chat_nickname,mobile,acme_level --mask',
      'userinfo read "$code"',
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
    await expect.poll(() => page.evaluate("document.querySelectorAll('tbody').length")).toBeGreaterThan(2);
    await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    const still = { name: 'prefers-reduced-motion', value: 'reduce' };
    for (const value of ['light', 'dark']) {
      await page.call('Emulation.setEmulatedMedia', {
        features: [{ name: 'prefers-color-scheme', value }, still],
      });
      await page.call('Emulation.setDeviceMetricsOverride', {
        ...{ width: 960, height: 640, deviceScaleFactor: 1, mobile: false },
      });
      const { result } = await page.call('Page.captureScreenshot', { format: 'png' });
      writeFileSync(join(file, '..', `page-${value}.png`), Buffer.from(result?.data ?? '', 'base64'));
    }
  },
);
