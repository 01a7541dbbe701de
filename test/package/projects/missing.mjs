// What asks for an optional package, where none is installed.
import { createService, openAdmin } from 'userinfo-cli/service';

const calls = [
  () => createService(),
  () => openAdmin({ database: ':memory:' }),
  () => openAdmin({ database: 'postgres://u@127.0.0.1:1/x' }),
];
for (const call of calls) {
  await call().catch((error) => process.stdout.write(`${error.code} ${error.message}\n`));
}
