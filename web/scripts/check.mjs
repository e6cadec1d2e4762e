// What ctest runs as web.unit: the types from the schemas, the type checker over everything, then the unit tests.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const web = fileURLToPath(new URL('..', import.meta.url));
for (const args of [['scripts/types.mjs'], ['node_modules/typescript/bin/tsc', '--noEmit'], ['node_modules/vitest/vitest.mjs', 'run']]) {
  const { status } = spawnSync(process.execPath, args, { cwd: web, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
