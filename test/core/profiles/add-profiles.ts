// Adds profiles from a process of its own: add-profiles <folder> <prefix> <count> [secret length]
import { addProfile, ProfileStore } from '../../../src/core/profiles/profile-store.js';
import { Secret } from '../../../src/core/signing/secret.js';

const [folder = '', prefix, count, secretLength = '10'] = process.argv.slice(2);
const store = new ProfileStore(folder);

try {
  for (let index = 0; index < Number(count); index += 1) {
    await store.change((list) =>
      addProfile(list, {
        name: `${prefix}${index}`,
        environment: 'test',
        base_url: 'https://test.example.com',
        tenant_code: 't1',
        channel: 'c1',
        app_key: 'k1',
        secret: { kind: 'file', value: new Secret('x'.repeat(Number(secretLength))) },
      }),
    );
  }
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  process.stdout.write(`${code}: ${message}`);
  process.exitCode = 3;
}
