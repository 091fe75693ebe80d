import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import pg from 'pg';

const program = `
  const { startTestServer } = await import('${new URL('database-server.ts', import.meta.url).href}');
  const { address } = await startTestServer();
  console.log(JSON.stringify(address));
  process.exit(3);`;

test('the server of tests ends with a process that exits without stopping it', async (context) => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const address = JSON.parse(await text(child.stdout)) as pg.ClientConfig;
  await context.waitFor(
    () =>
      assert.rejects(new pg.Client({ ...address, database: 'postgres' }).connect(), /ECONNREFUSED|ENOENT/),
    { timeout: 30_000 },
  );
});
