import { describe, expect, it } from 'vitest';
import { BrowserPage, findChromium } from '../../support/chromium.js';
import { draftPassback, draftRead, send } from '../../support/foreign-client.js';
import { runService, user } from '../../support/running-service.js';

const chromium = findChromium();

describe('the page of the service in a browser', () => {
  it('shows requests live, and their content executes nothing', {
    timeout: 60_000,
  }, async (test) => {
    if (chromium === undefined) return test.skip('needs Chromium');
    const running = await runService();
    const { service } = running;
    try {
      await service.admin.putUser(user('u1'));
      await running.passback({ union_id: 'u1', user_info: '{"level":"gold"}' });
      await using page = await BrowserPage.open(chromium, service.url);
      const seen = async (selector: string) =>
        await page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`);
      const wait = { timeout: 20_000 };
      await expect.poll(() => seen('#state'), wait).toBe('Live');
      expect(await seen('tbody.ok')).toMatch(/passback\s+app_\w+ acme\s+200 ok/);

      const attack = '<img src=x onerror=document.title=1>';
      await send(service.url, draftRead(running.app, 'c', { [attack]: attack }));
      const spoiled = draftPassback(running.app, { union_id: 'u1', user_info: '{"level":"gold"}' });
      await send(service.url, { ...spoiled, spoilSign: true });
      await expect.poll(() => seen('#count'), wait).toBe('3');
      expect(await seen('#refused')).toBe('2 refused: 40002 × 1, 40103 × 1');
      expect(await seen('tbody')).toMatch(/40103 sign is wrong.*Parameters.*Message.*Digest/s);
      expect(
        await page.evaluate("document.querySelectorAll('tbody img, tbody script').length"),
      ).toBe(0);

      expect(await page.evaluate('document.title')).toBe('(2) userinfo: requests');
      const isOpen = () => page.evaluate("document.querySelector('tbody.ok details').open");
      await page.evaluate("document.querySelector('tbody.ok .open').click()");
      expect(await isOpen()).toBe(true);
      expect(await seen('tbody.ok')).toMatch(/Parameters as sent, masked.*union_id\s+\*{4}/s);
      await page.evaluate("document.querySelector('tbody.ok td').click()");
      expect(await isOpen()).toBe(false);
      const filter = (text: string) =>
        page.evaluate(`{ const field = document.getElementById('filter'); field.value = ${JSON.stringify(text)};
          field.dispatchEvent(new Event('input')); }`);
      await filter('passback 40103');
      expect(await seen('#count')).toBe('1 of 3');
      const isNone = () => page.evaluate("!document.getElementById('no-match').hidden");
      expect(await isNone()).toBe(false);
      await filter('nothing that is here');
      expect(await isNone()).toBe(true);
      await filter('');
      await page.evaluate("document.querySelector('tbody:not(.ok) .copy').click()");
      await expect.poll(() => seen('tbody:not(.ok) .copy'), wait).toBe('Copied');

      await page.evaluate("document.getElementById('only-refused').click()");
      expect(await seen('#count')).toBe('2 of 3');
      expect(
        await page.evaluate("getComputedStyle(document.querySelector('tbody.ok')).display"),
      ).toBe('none');
      await page.evaluate("document.getElementById('pause').click()");
      expect(await seen('#state')).toBe('Paused');
      expect(page.complaints).toEqual([]);
    } finally {
      await service.close();
    }
  });
});
