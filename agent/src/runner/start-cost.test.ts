import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const lists = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
await import(${JSON.stringify(new URL('run-phase.ts', import.meta.url).href)});
console.log(loaded.join('\\n'));
`;

test('a runner loads no schemas, which would delay each run by hundreds of files', () => {
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', lists], { encoding: 'utf8' })
    .trim()
    .split('\n');
  assert.ok(loaded.some((url) => url.endsWith('/runner/phases/plan-phase.ts')));
  assert.deepEqual(
    loaded.filter((url) => /node_modules\/(typebox|ajv|openpgp|fastify)\//.test(url)),
    [],
  );
});
