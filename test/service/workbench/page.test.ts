import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { defaultRecipes, presets } from '../../../src/core/signing/presets.js';
import type { RecipeJson } from '../../../src/core/signing/recipe.js';
import type { ServiceOptions } from '../../../src/service/index.js';
import { Machine } from '../../support/cli.js';
import {
  type Draft,
  draftPassback,
  draftRead,
  fetchAnswer,
  send,
  signDraft,
} from '../../support/foreign-client.js';
import { exchange, expectEnvelope } from '../../support/raw-exchange.js';
import { type RunningService, runService, tenant, user } from '../../support/running-service.js';

let running: RunningService;

afterEach(() => running.service.close());

async function serve(options: ServiceOptions = {}): Promise<RunningService> {
  running = await runService(options);
  await running.service.admin.putUser(user('u1', { basic_info: { mobile: '13800138000' } }));
  return running;
}

async function page(query = ''): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(`${running.service.url}/${query}`);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** As a browser sends it that was led here under another name. */
function pageAt(
  host: string | undefined,
  path = '/',
  more: Record<string, string> = {},
): Promise<number> {
  const headers = { ...(host === undefined ? {} : { host }), ...more };
  return new Promise((resolve, reject) => {
    const asked = request(
      `${running.service.url}${path}`,
      { headers, setHost: false },
      (answer) => {
        resolve(answer.resume().statusCode ?? 0);
      },
    );
    asked.on('error', reject).end();
  });
}

/** What a reader sees of markup. */
const textOf = (markup: string) =>
  markup
    .replace(/<(style|script)>.*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

/** The rows with the stages of the first signature that is explained, as text. */
const stagesOf = (markup: string) => {
  const [, rows = ''] = /<table class="stages">.*?<tbody>(.*?)<\/tbody>/s.exec(markup) ?? [];
  return [...rows.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => cell),
  );
};

const passback = (fields: Record<string, string> = {}): Draft =>
  draftPassback(running.app, { union_id: 'u1', user_info: '{"level":"gold"}', ...fields });

/** A draft that is signed with another one's secret or fields, and sent with its own. */
async function sendSigned(draft: Draft, signed: Partial<Draft>): Promise<number> {
  const { target } = signDraft({ ...draft, ...signed });
  const body = new URLSearchParams([...(draft.form ?? [])]);
  const { envelope } = await fetchAnswer(running.service.url + target, { method: 'PUT', body });
  return envelope.code;
}

/** A read by an app with a recipe of its own, signed as by the default one. */
async function readByAppWith(recipe: RecipeJson): Promise<void> {
  const given = { tenantCode: tenant, channel: 'web', recipes: { app_sign: recipe, sign: recipe } };
  const { app_secret, ...app } = await running.service.admin.createApp(given);
  await send(running.service.url, draftRead({ ...app, secret: app_secret.reveal() }, 'c'));
}

describe('the page of the service', () => {
  it('shows each request with operation, app, result and time, latest first', async () => {
    await serve();
    await running.passback({ union_id: 'u1', user_info: '{"level":"gold"}' });
    await send(running.service.url, draftRead(running.app, 'no-such-code'));
    const { status, text, headers } = await page();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const seen = textOf(text);
    const { app_key } = running.app;
    expect(seen).toMatch(
      new RegExp(
        `[\\d:.]{12} read ${app_key} ${tenant} 40106 [\\w, ]+ \\d+ .*[\\d:.]{12} passback ${app_key}`,
      ),
    );
    expect(seen).toContain(
      'userinfo explain 40106 Copy Parameters as sent, masked tenant_code acme',
    );
    expect(seen).toContain('union_id **** user_info {&quot;level&quot;:&quot;****&quot;}');
    for (const name of ['app_sign', 'sign'])
      expect(seen).toMatch(new RegExp(` ${name} [\\da-f]{3}\\*{4}[\\da-f]{4} `));
  });

  it('is empty at first, and explains how to send a request', async () => {
    await serve();
    expect(textOf((await page()).text)).toContain('No request yet');
  });

  it('has no row for a connection without a request', async () => {
    await serve({ requestTimeoutMs: 1000 });
    const { hostname, port } = new URL(running.service.url);
    const socket = connect(Number(port), hostname);
    expect(String(await buffer(socket))).toContain('40801');
    expect((await page()).text).not.toContain('<tbody');
  });

  it('does not list its own requests', async () => {
    await serve();
    await page();
    expect((await fetch(running.service.url, { method: 'HEAD' })).status).toBe(200);
    expect((await page()).text).not.toContain('<tbody');
    expect(running.log.filter(({ event }) => event === 'request')).toEqual([]);
  });

  it('shows the last 200 requests, and refused ones before them', async () => {
    await serve();
    await send(running.service.url, draftRead(running.app, 'no-such-code'));
    for (let count = 0; count < 205; count += 1)
      await running.passback({ union_id: 'u1', user_info: '{"level":"gold"}' });
    const { text } = await page();
    expect(text.match(/<tbody class="ok"/g)).toHaveLength(200);
    expect(text.match(/<tbody class="refused"/g)).toHaveLength(1);
  });

  it('shows the last 200 refused requests', async () => {
    await serve();
    for (let count = 0; count < 205; count += 1)
      await fetchAnswer(`${running.service.url}/nothing/n${count}`);
    const { text } = await page();
    expect(text.match(/<tbody class=/g)).toHaveLength(200);
    expect(text).toContain('/nothing/n204');
    expect(text).not.toMatch(/\/nothing\/n4</);
  });

  it('keeps no parameters of more than 4,000 characters', async () => {
    await serve();
    await running.passback({ union_id: 'u1', user_info: `{"level":"${'x'.repeat(4_000)}"}` });
    expect(textOf((await page()).text)).toContain('Its parameters are not kept');
  });

  it('returns newer requests, and detects a restart of the service', async () => {
    await serve();
    await running.passback({ union_id: 'u1', user_info: '{"level":"gold"}' });
    const [, run] = /data-run="(\w+)"/.exec((await page()).text) ?? [];
    expect(await page(`?run=${run}&after=1`)).toMatchObject({ status: 204, text: '' });
    await fetchAnswer(`${running.service.url}/nothing`);
    const since = await page(`?run=${run}&after=1`);
    expect(since.status).toBe(200);
    expect(textOf(since.text)).toMatch(
      /^ [\d:.]+ GET \/nothing – 40402 no such path \d+ .* userinfo explain 40402 Copy /,
    );
    expect((await page(`?run=${run}&after=x`)).status).toBe(204);
    expect((await page('?run=another&after=1')).status).toBe(205);
  });

  it('has a strict content security policy', async () => {
    await serve();
    const { text, headers } = await page();
    const hashes = ['style', 'script'].map((name) => {
      const [, source = ''] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(text) ?? [];
      return `${name}-src 'sha256-${createHash('sha256').update(source).digest('base64')}'`;
    });
    expect(headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      ...hashes,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).not.toMatch(/(?:src|href)="(?!data:,")/);
  });
});

it('a fault on the page is distinguished from a refusal', async () => {
  await serve({ faults: { error: 1, seed: 1 } });
  await send(running.service.url, passback());
  expect((await page()).text).toMatch(/<tbody class="fault"/);
  await running.service.close();
  await serve();
  await send(running.service.url, draftRead(running.app, 'no-such-code'));
  expect((await page()).text).toMatch(/<tbody class="refused"/);
});

describe('a refused signature on the page', () => {
  const form = (user_info: string) =>
    new Map([
      ['union_id', 'u1'],
      ['user_info', user_info],
    ] as const);

  it('is shown by stage, with the first difference marked on both sides', async () => {
    await serve();
    const signed = { form: form('{"a": "b"}') };
    expect(await sendSigned({ ...passback(), form: form('{"a":"b"}') }, signed)).toBe(40103);
    const { text } = await page();
    expect(textOf(text)).toContain(
      'It was signed with user_info with spaces after its commas and colons.',
    );
    const [params = [], message = [], digest = []] = stagesOf(text);
    expect(params[1]).toMatch(/user_info={&quot;a&quot;:<mark>&quot;<\/mark>\*/);
    expect(params[2]).toMatch(/user_info={&quot;a&quot;:<mark> <\/mark>&quot;\*/);
    expect(message[2]).toContain('&amp;key=&lt;secret&gt;');
    expect(digest[0]).toMatch(/^Digest <small>(?:differs<|equal, as far)/);
  });

  it("is shown without differences if only the digest's encoding differs", async () => {
    await serve();
    const { target, body } = signDraft(passback());
    const shouted = target.replace(/(?<=&sign=)\w+/, (sign) => sign.toUpperCase());
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await fetchAnswer(running.service.url + shouted, { method: 'PUT', headers, body });
    const { text } = await page();
    expect(textOf(text)).toContain('It is the right digest in the wrong letter case.');
    const [params = [], message = []] = stagesOf(text);
    expect([params[0], message[0]]).toEqual([
      'Parameters <small>equal</small>',
      'Message <small>equal</small>',
    ]);
    expect(message[1]).toBe(message[2]);
  });

  it("is shown with the position where the client's text ends too early", async () => {
    await serve();
    await sendSigned(passback(), { form: new Map([['union_id', 'u1']]) });
    const { text } = await page();
    expect(textOf(text)).toContain('It was signed without the parameter user_info.');
    const [params = []] = stagesOf(text);
    expect(params[1]).toContain('<mark>&amp;</mark>user_info=');
    expect(params[2]).toContain('<mark class="end" title="the text ends here"></mark>');
  });

  it('is shown with its cause alone if the difference is masked', async () => {
    await serve();
    await sendSigned({ ...passback(), form: form('{"a":"b c"}') }, { form: form('{"a":"b+c"}') });
    const { text } = await page();
    expect(textOf(text)).toContain('It was signed with + in user_info');
    const [params = []] = stagesOf(text);
    expect(params[2]).toBe('The difference is in the masked part.');
  });

  it('is shown with its cause if the secret differs, without the secret', async () => {
    await serve();
    const { secret, app_key } = running.app;
    expect(await sendSigned(passback(), { secret: app_key })).toBe(40102);
    const { text } = await page();
    expect(textOf(text)).toContain('It was signed with the app key in place of the secret.');
    const [params = [], message = []] = stagesOf(text);
    expect(params[1]).toBe(params[2]);
    expect(message[1]).toContain('&amp;key=<mark>&lt;secret&gt;</mark>');
    expect(message[2]).toContain('&amp;key=<mark>&lt;app key&gt;</mark>');
    expect(text).not.toContain(secret);
  });

  it.each([
    [' after', (secret: string) => `${secret} `, '&lt;secret&gt;␣'],
    ['a line break before', (secret: string) => `\n${secret}`, '\\n&lt;secret&gt;'],
    ['quotes around', (secret: string) => `"${secret}"`, '&quot;&lt;secret&gt;&quot;'],
    ['nothing instead of', () => '', '&lt;empty&gt;'],
  ])('is shown with %s the secret where that was signed', async (_, change, shown) => {
    await serve();
    await sendSigned(passback(), { secret: change(running.app.secret) });
    const { text } = await page();
    const [, message = []] = stagesOf(text);
    expect(message[2]).toContain(`&amp;key=<mark>${shown}</mark>`);
    expect(text).toContain('<code>userinfo doctor</code>');
    expect(text).not.toContain(running.app.secret);
  });

  it('is explained where a parameter that the platform ignores holds the secret, or its label', async () => {
    await serve({ platform: { unknown_parameters: 'ignore' } });
    const { secret } = running.app;
    for (const value of [secret, '<secret>']) {
      const draft = passback();
      draft.query.set('key', value);
      expect(await sendSigned(draft, { secret: `${secret} ` })).toBe(40102);
    }
    const { status, text } = await page();
    expect(status).toBe(200);
    expect(textOf(text).match(/It was signed with a space after the secret/g)).toHaveLength(2);
    expect(text).not.toContain(secret);
  });

  it('by a known preset comes with the command that shows how userinfo signs it', async () => {
    await serve();
    await readByAppWith(
      presets.find(({ name }) => name === 'taobao')?.recipe ?? defaultRecipes.sign,
    );
    expect((await page()).text).toContain('<code>userinfo sign explain read ');
  });

  it('is shown with the known facts if no usual mistake explains it', async () => {
    await serve();
    await sendSigned(passback(), { secret: 'quite another' });
    const { text } = await page();
    expect(textOf(text)).toContain('No single common mistake explains it.');
    const [params = [], , digest = []] = stagesOf(text);
    expect(params[1]).toContain(`app_key=${running.app.app_key}&amp;random=`);
    expect(params[2]).toContain('Unknown');
    expect(digest[2]).not.toContain('Unknown');
  });

  it('comes with a command that has the request and works as pasted', async () => {
    await serve();
    using machine = new Machine();
    const env = {
      USERINFO_BASE_URL: running.service.url,
      USERINFO_TENANT_CODE: tenant,
      USERINFO_CHANNEL: 'web',
      USERINFO_APP_KEY: running.app.app_key,
      USERINFO_APP_SECRET: running.app.secret,
    };
    const read = draftRead(running.app, 'c0ffee', {
      info_name: "mobile,it's",
      scope: 'get_user_info',
    });
    for (const draft of [passback(), passback({ primary_key: 'level', union_id: '' }), read])
      await send(running.service.url, { ...draft, secret: 'quite another' });
    const shown = [...(await page()).text.matchAll(/<code>(userinfo sign explain .*?)<\/code>/g)];
    expect(shown).toHaveLength(3);
    for (const [, command = ''] of shown) {
      const typed = command.replaceAll('&quot;', '"').replaceAll('&#39;', "'");
      const { status, stdout } = await machine.shell(`${typed} --json`, { env });
      expect(status).toBe(0);
      expect(JSON.parse(stdout).sign.message).toContain('app_key=');
    }
  });

  it('by an app with its own recipes is explained by them', async () => {
    await serve();
    await readByAppWith({ message: ['$params', '$secret'], steps: ['md5'] });
    const [, message = []] = stagesOf((await page()).text);
    expect(message[1]).toMatch(/&amp;<mark>c<\/mark>hannel=web.*timestamp=\d+&lt;secret&gt;/);
    expect(message[2]).toMatch(/&amp;<mark>r<\/mark>andom=.*timestamp=\d+&amp;key=&lt;secret&gt;/);
  });

  it('is shown without secrets, codes and personal data, as in the log', async () => {
    await serve();
    const { code } = await running.service.admin.issueCode({ tenantCode: tenant, unionId: 'u1' });
    const personal = { mobile: '13912345678', id_card: '330106199001011234' };
    const drafts = [
      draftRead(running.app, code, { info_name: `mobile,${personal.id_card}` }),
      passback({ user_info: JSON.stringify(personal) }),
      passback({ user_info: JSON.stringify({ ...personal, [personal.mobile]: 'x' }) }),
      passback({ union_id: running.app.secret }),
    ];
    for (const draft of drafts) {
      await send(running.service.url, { ...draft, spoilSign: true });
      await sendSigned(draft, { secret: `${draft.secret}\n` });
    }
    const { text } = await page();
    expect(text.match(/class="more why"/g)).toHaveLength(7);
    for (const hidden of [...Object.values(personal), code, running.app.secret]) {
      expect(text).not.toContain(hidden);
    }
  });

  it('among many are analyzed, some at each request', async () => {
    await serve();
    for (let count = 0; count < 25; count += 1)
      await sendSigned(passback(), { secret: 'quite another' });
    const left = async () => (await page()).text.match(/Not analyzed/g)?.length ?? 0;
    expect(await left()).toBe(5);
    expect(await left()).toBe(0);
  });

  it('that is very long is truncated', async () => {
    await serve();
    const long = JSON.stringify(
      Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`k${i}`, 'value'])),
    );
    await send(running.service.url, { ...passback({ user_info: long }), spoilSign: true });
    const { text } = await page();
    expect(textOf(text)).toContain('Not analyzed');
    expect(text.length).toBeLessThan(40_000);
  });
});

describe('text from the network', () => {
  const attack = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>\u202e`;

  // What is masked keeps its ends: they are tags here.
  const short = `<b>'"<i>&</i><hr>`;

  it.each(['app_key', 'tenant_code', 'channel', 'info_name', 'scope', 'random'])(
    'is inert on the page as %s',
    async (name) => {
      await serve();
      const draft = draftRead(running.app, 'c');
      draft.query.set(name, short);
      await send(running.service.url, { ...draft, spoilAppSign: true });
      await send(running.service.url, { ...draft, spoilSign: true });
      await expectHarmless();
    },
  );

  it('is inert on the page as a name, a value or a path', async () => {
    await serve();
    const drafts = [
      draftRead(running.app, 'c', { [attack]: 'x', x: attack }),
      passback({ user_info: JSON.stringify({ [attack]: attack }) }),
      passback({ primary_key: attack, union_id: '' }),
      { ...passback(), path: `/${encodeURIComponent(attack)}` },
      { ...passback(), path: '/<script>/"onload="' },
    ];
    for (const draft of drafts) {
      await send(running.service.url, draft).catch(() => {});
      await send(running.service.url, { ...draft, spoilSign: true }).catch(() => {});
    }
    await expectHarmless();
  });

  it('is shown as the name of an app', async () => {
    await serve();
    const { app_secret, ...app } = await running.service.admin.createApp({
      tenantCode: attack,
      channel: 'web',
      appKey: '<script>alert(2)</script>',
    });
    await send(running.service.url, {
      ...draftRead({ ...app, secret: app_secret.reveal() }, 'c'),
      spoilSign: true,
    });
    const text = await expectHarmless();
    expect(text).toContain('&lt;script&gt;alert(2)&lt;/script&gt;');
    expect(text).toContain('\\u202e');
  });

  async function expectHarmless(): Promise<string> {
    const { text } = await page();
    expect(text.match(/<script/g)).toHaveLength(1);
    expect(text).not.toMatch(/<(?:img|b|i|hr)\b|<[^>]*\son\w+=|\u202e/);
    expect(text.match(/<tbody class=/g)?.length).toBeGreaterThan(0);
    return text;
  }
});

describe('the page is shown', () => {
  it.each([
    ['127.0.0.1', 200],
    ['localhost:8787', 200],
    ['[::1]:8787', 200],
    ['evil.example', 404],
    ['localhost.evil.example:8787', 404],
    ['127.0.0.1.evil.example', 404],
    ['192.168.1.5', 404],
    ['', 404],
    [undefined, 404],
  ])('on a service for this machine alone to a browser that asks %j: %i', async (host, status) => {
    await serve();
    expect(await pageAt(host)).toBe(status);
    expect(await pageAt(host, '/?run=x&after=0')).toBe(status === 200 ? 205 : 404);
  });

  it.each([
    [{ 'X-Forwarded-For': '203.0.113.7' }],
    [{ 'x-forwarded-proto': 'https' }],
    [{ 'X-Real-IP': '203.0.113.7' }],
    [{ Forwarded: 'for=203.0.113.7' }],
    [{ Via: '1.1 proxy' }],
  ])('not to whoever comes through a proxy: %j', async (header) => {
    await serve();
    expect(await pageAt('localhost', '/', header)).toBe(404);
    expect(await pageAt('localhost', '/?run=x&after=0', header)).toBe(404);
  });

  it('not behind thousands of headers', async () => {
    await serve();
    const { host } = new URL(running.service.url);
    const headers = `Host: ${host}\r\n${'a:\r\n'.repeat(2_000)}Via: 1.1 proxy\r\n`;
    const [answer] = await exchange(running.service.url, `GET / HTTP/1.1\r\n${headers}\r\n`);
    expectEnvelope(answer, 40402);
  });

  it('not over HTTP/1.0, the default of proxies but of no browser', async () => {
    await serve();
    const { host } = new URL(running.service.url);
    const [answer] = await exchange(running.service.url, `GET / HTTP/1.0\r\nHost: ${host}\r\n\r\n`);
    expectEnvelope(answer, 40402);
  });

  it('on another service only if enabled, and then by address, not by name', async () => {
    await serve({ host: '0.0.0.0' });
    expect(await pageAt('127.0.0.1')).toBe(404);
    const put = await fetchAnswer(`${running.service.url}/`, { method: 'PUT' });
    expect(put.envelope.code).toBe(40402);
    await running.service.close();
    await serve({ host: '0.0.0.0', page: true });
    expect(await pageAt('localhost')).toBe(200);
    expect(await pageAt('192.168.1.5:8787')).toBe(200);
    expect(await pageAt('[fd00::1]:8787')).toBe(200);
    expect(await pageAt('evil.example')).toBe(404);
  });

  it('not at all if disabled', async () => {
    await serve({ page: false });
    expect(await pageAt('127.0.0.1')).toBe(404);
  });
});
