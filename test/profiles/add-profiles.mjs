// Adds profiles from a process of its own: node add-profiles.mjs <folder> <prefix> <count> [secret length]
import { ProfileStore } from '../../dist/profiles/profile-store.js';
import { Secret } from '../../dist/signing/secret.js';

const [folder, prefix, count, secretLength = '10'] = process.argv.slice(2);
const store = new ProfileStore(folder);

try {
  for (let index = 0; index < Number(count); index += 1) {
    await store.add({
      name: `${prefix}${index}`,
      environment: 'test',
      base_url: 'https://test.example.com',
      tenant_code: 't1',
      channel: 'c1',
      app_key: 'k1',
      secret: { kind: 'file', value: new Secret('x'.repeat(Number(secretLength))) },
    });
  }
} catch (error) {
  process.stdout.write(`${error.code}: ${error.message}`);
  process.exitCode = 3;
}
