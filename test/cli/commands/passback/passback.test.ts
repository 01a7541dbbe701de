import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServedMachine } from '../../../support/served.js';

let machine: ServedMachine;

beforeAll(async () => {
  machine = await ServedMachine.create();
});

afterAll(() => machine[Symbol.asyncDispose]());

const local = ['-p', 'local'];

describe('passback', () => {
  it('writes what read returns, without and with names', async () => {
    const pairs = ['acme_level=gold', 'age:=28', 'name=张三/李四'];
    const written = await machine.run([...local, 'passback', ...pairs, '--union-id', 'u001']);
    expect(written).toMatchObject({ status: 0, stderr: '' });
    expect(written.stdout).toMatch(/│ union_id │ u001 │/);

    const whole = await machine.run([...local, 'read', await machine.issueCode()]);
    expect(whole).toMatchObject({ status: 0, stderr: '' });
    expect(whole.stdout).toMatch(/│ name +│ 张三\/李四 +│/);
    expect(whole.stdout).toMatch(/│ chat_nickname │ 张三 +│/);

    const names = ['mobile,acme_level', 'device_info', 'location_info'];
    const named = await machine.run([
      ...local,
      'read',
      await machine.issueCode(),
      ...names,
      '--json',
    ]);
    expect(named).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(named.stdout)).toEqual({
      code: 200,
      msg: 'ok',
      data: {
        union_id: 'u001',
        mobile: '13800138000',
        acme_level: 'gold',
        device_info: [
          '{"device_token":"","brand":"Acme","os":"Android","os_version":"","network":"","uuid":""}',
        ],
        location_info: ['{"country":"中国","province":"","city":"杭州"}'],
      },
    });
  });

  it('keeps every value as it was written', async () => {
    const json =
      '{"k1":9007199254740993,"k2":1.00,"k3":true,"k4":"\\u4e2d\\/\\ud83d\\ude00","k5":"0013","k6":""}';
    const done = await machine.run(
      [...local, 'passback', '--user-info', '-', '--union-id', 'u001'],
      { stdin: json },
    );
    expect(done).toMatchObject({ status: 0, stderr: '' });
    expect((await machine.record()).extension_info).toMatchObject({
      k1: '9007199254740993',
      k2: '1.00',
      k3: 'true',
      k4: '中/😀',
      k5: '0013',
      k6: '',
    });
    expect(machine.log).not.toContain('escape');
    await machine.run([...local, 'passback', 'k1:=null', '--union-id', 'u001']);
    expect((await machine.record()).extension_info).not.toHaveProperty('k1');
  });

  it('finds the user by primary key', async () => {
    const pairs = ['mobile=13800138000', 'by_key=yes'];
    const done = await machine.run([
      ...local,
      'passback',
      ...pairs,
      ...'--primary-key mobile --json'.split(' '),
    ]);
    expect(done).toMatchObject({
      status: 0,
      stdout: '{"code":200,"msg":"ok","data":{"union_id":"u001"}}\n',
    });
    expect((await machine.record()).extension_info).toMatchObject({ by_key: 'yes' });
  });

  it.each([
    [
      ['-a=x', '--union-id', 'u001'],
      'unknown option "-a"\nPut a -- before an argument that begins with -.',
    ],
    [['a:=1,"b":2', '--union-id', 'u001'], 'the value of key "a" is not a JSON value'],
    [['=x', '--union-id', 'u001'], 'is not a pair such as key=text'],
    [['--user-info', '[', '--union-id', 'u001'], '--user-info: invalid JSON at line 1, column 2'],
  ])('refuses %j with status 2, and sends nothing', async (args, said) => {
    const logged = machine.log;
    const done = await machine.run([...local, 'passback', ...args]);
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(done.stderr).toContain(said);
    expect(done.stderr.trim().split('\n').length).toBeLessThanOrEqual(3);
    expect(machine.log).toBe(logged);
  });

  it('accepts text that starts with @, or with backslashes and @', async () => {
    writeFileSync(`${machine.folder}/bom.txt`, '\ufeff@z');
    const pairs = ['t1=\\@x', 't2=\\\\@x', 't3=\\x', 't4=@bom.txt'];
    const done = await machine.run([...local, 'passback', ...pairs, '--union-id', 'u001']);
    expect(done).toMatchObject({ status: 0, stderr: '' });
    const stored = { t1: '@x', t2: '\\@x', t3: '\\x', t4: '@z' };
    expect((await machine.record()).extension_info).toMatchObject(stored);
  });

  it('accepts an argument that begins with - after --', async () => {
    const done = await machine.run([...local, 'passback', '--union-id', 'u001', '--', '-a=x']);
    expect(done).toMatchObject({ status: 0, stderr: '' });
    expect((await machine.record()).extension_info).toMatchObject({ '-a': 'x' });
  });

  // 张三 in GBK.
  it.skipIf(process.platform !== 'linux').each([
    [`passback "$(printf 'name=\\325\\305')" --union-id u001`, 'argument 4'],
    [`passback "$(printf '\\325\\305=x')" --union-id u001`, 'argument 4'],
    [`passback --user-info "$(printf '{"name":"\\325\\305"}')" --union-id u001`, 'argument 5'],
    [`passback a=x --union-id "$(printf '\\325\\305')"`, 'argument 6'],
    [`read "$(printf '\\325\\305')"`, 'argument 4'],
    [`read c "$(printf '\\325\\305')"`, 'argument 5'],
  ])(
    '%s, which is not UTF-8, is refused, and nothing is sent (needs Linux)',
    async (line, said) => {
      const logged = machine.log;
      const done = await machine.shell(`userinfo -p local ${line}`);
      expect(done).toMatchObject({ status: 2, stdout: '' });
      expect(done.stderr).toContain(`error: ${said} is not UTF-8`);
      expect(machine.log).toBe(logged);
    },
  );

  it.skipIf(process.platform !== 'linux')(
    'a variable that is not UTF-8 is refused, too (needs Linux)',
    async () => {
      const line = `export USERINFO_CHANNEL=$(printf '\\325'); userinfo -p local passback a=x --union-id u001`;
      const done = await machine.shell(line);
      expect(done.stderr).toContain('USERINFO_CHANNEL is not UTF-8');
      expect(done.status).toBe(2);
    },
  );

  it('a record that is not UTF-8 is refused by its line, and a byte-order mark is not', async () => {
    const put = `userinfo admin user put --database ${machine.database}`;
    const record = '{"tenant_code":"acme","union_id":"u003","basic_info":{"mobile":"%s"}}\\n';
    const damaged = await machine.shell(`printf '${record}' 1 "$(printf '\\325\\305')" | ${put}`);
    expect(damaged).toMatchObject({ status: 2, stdout: '' });
    expect(damaged.stderr).toContain('error: line 2: the record is not UTF-8');
    expect(damaged.stderr).toContain('The records of earlier lines are stored.');
    const first = await machine.shell(`printf '{' | ${put}`);
    expect(first.stderr).toContain('Nothing was stored.');
    expect(first.status).toBe(2);
    const marked = await machine.shell(`printf '\\357\\273\\277${record}' 138 | ${put}`);
    expect(marked).toMatchObject({ status: 0, stderr: 'put 1 user\n' });
    expect((await machine.record('u003')).basic_info).toEqual({ mobile: '138' });
    await machine.admin(['user', 'delete', '--tenant-code', 'acme', '--union-id', 'u003', '--yes']);
  });

  it('an import that Ctrl-C interrupts is not reported as complete', async () => {
    const put = machine.start(['admin', 'user', 'put', '--database', machine.database]);
    const status = new Promise((resolve) => put.once('exit', resolve));
    const record = (id: number) => `{"tenant_code":"cut","union_id":"u${id}"}\n`;
    put.stdin?.write(Array.from({ length: 5001 }, (_, id) => record(id)).join(''));
    const stored = async () =>
      (await machine.admin(['user', 'list', '--tenant-code', 'cut'])).trim().split('\n').length;
    // They are stored by the 5000.
    await expect.poll(stored).toBe(5000);
    let said = '';
    put.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    put.kill('SIGINT');
    expect(await status).toBe(130);
    expect(said).toBe('interrupted\n');
    expect(await stored()).toBe(5001);
  });

  it('ends with status 4 if there is no such user, with the envelope on stdout', async () => {
    const done = await machine.run([...local, 'passback', 'a=x', '--union-id', 'nobody', '--json']);
    expect(done.status).toBe(4);
    expect(JSON.parse(done.stdout)).toMatchObject({ code: 40401, data: {} });
    const { error } = JSON.parse(done.stderr);
    expect(error).toMatchObject({
      code: 'REJECTED',
      message: 'the service answered 40401 "no such user"',
      exit: 4,
    });
    expect(error.hint).toContain('Check union_id or the primary key');
  });

  it('is kept by a service that stops on SIGTERM, with status 0', async () => {
    await machine.run([...local, 'passback', 'last=word', '--union-id', 'u001']);
    expect(await machine.stop('SIGTERM')).toBe(0);
    expect((await machine.record()).extension_info).toMatchObject({ last: 'word' });
  });
});
