import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UserInfoClient } from '../../src/index.js';
import { useTestService } from '../../src/service/index.js';

const hooks = { beforeEach, afterAll };
const service = useTestService(hooks, { users: [{ union_id: 'u001' }] });
let client: UserInfoClient;

beforeEach(() => {
  vi.useFakeTimers();
  client = new UserInfoClient(service.clientOptions);
});

afterEach(async () => {
  vi.useRealTimers();
  await client.close();
});

// test/package runs the same with Jest.
describe('under fake timers', () => {
  it('that nothing advances, a call is answered, also at its second attempt', async () => {
    service.failNext(1, { operation: 'passback', code: 50301 });
    await client.passback({ unionId: 'u001', userInfo: { acme_level: 'gold' } });
    const code = await service.issueCode('u001');
    const { data } = await client.read({ code });
    expect(data.extension_info).toEqual({ acme_level: 'gold' });
  });

  it('a run is finished where they advance by themselves, also if it is throttled', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    service.failNext(2, { operation: 'passback', code: 42901 });
    const rows = [1, 2, 3].map((level) => ({
      unionId: 'u001',
      userInfo: { [`acme_${level}`]: level },
    }));
    const outcomes: string[] = [];
    for await (const { outcome } of client.passbackAll(rows)) outcomes.push(outcome);
    expect(outcomes).toEqual(['ok', 'ok', 'ok']);
  });

  it('the example of docs/testing.md reaches the limit of a call', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/testing.md'), 'utf8');
    const [, example = ''] = /## Fake timers\n.*?```js\n(.*?)```/s.exec(page) ?? [];
    const names = ['vi', 'service', 'client', 'expect'];
    const run = new Function(...names, `return (async () => { ${example} })();`);
    await run(vi, service, client, expect);
    expect(example).toContain('advanceTimers');
  });
});
