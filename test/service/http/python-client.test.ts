import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { runService, tenant, user } from '../../support/running-service.js';

/** Python's standard library, with nothing of ours: reads what it needs from its arguments. */
const script = `
import hashlib, json, sys, time, urllib.error, urllib.parse, urllib.request
url, app_key, secret, changed = sys.argv[1:5]

def md5(text):
    return hashlib.md5(text.encode('utf-8')).hexdigest()

query = {'tenant_code': 'acme', 'app_key': app_key, 'channel': 'web',
         'random': md5(str(time.time_ns()))[:16], 'timestamp': str(int(time.time()))}
form = {'union_id': 'u1', 'user_info': json.dumps({'name': '张三/李四', 'age': 28}, ensure_ascii=False)}
query['app_sign'] = md5('app_key=%s&random=%s&timestamp=%s&key=%s'
                        % (app_key, query['random'], query['timestamp'], secret))
signed = '&'.join('%s=%s' % pair for pair in sorted({**query, **form}.items()) if pair[1] != '')
query['sign'] = md5(signed + '&key=' + secret)
if changed:
    form['user_info'] = form['user_info'].replace('28', '29')
request = urllib.request.Request(
    url + '/api/v1/server/user/passback_user_info?' + urllib.parse.urlencode(query),
    data=urllib.parse.urlencode(form).encode('ascii'), method='PUT')
try:
    answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    answer = error
print(answer.read().decode('utf-8'))
`;

it('accepts a request signed by Python, and refuses it with one byte changed', async () => {
  const { service, app } = await runService();
  await service.admin.putUser(user('u1'));
  const passback = async (changed: string) => {
    const args = ['-c', script, service.url, app.app_key, app.secret, changed];
    return JSON.parse((await promisify(execFile)('python3', args)).stdout);
  };
  expect(await passback('')).toEqual({ code: 200, msg: 'ok', data: { union_id: 'u1' } });
  expect(await passback('changed')).toMatchObject({ code: 40103 });
  const { extension_info } = await service.admin.getUser({ tenantCode: tenant, unionId: 'u1' });
  expect(extension_info).toEqual({ name: '张三/李四', age: '28' });
  await service.close();
});
