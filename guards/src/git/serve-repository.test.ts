import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { serveRepository } from './serve-repository.ts';

test('the git that reads from a local server that cannot start is ended', async (t) => {
  const folder = temporaryFolder(t, 'serve-');
  const log = join(folder, 'log');
  const cases = [
    { what: 'no log', log: join(folder, 'missing', 'log'), program: '/usr/bin/git', problem: /ENOENT/ },
    { what: 'no program', log, program: join(folder, 'missing'), problem: null },
  ];
  for (const { what, problem, ...changes } of cases) {
    const client = spawn('/bin/sh', ['-c', 'exec cat <&3'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    t.after(() => client.kill('SIGKILL'));
    const ended = once(client, 'exit');
    const serving = serveRepository({
      repository: { kind: 'local', gitFolder: folder, ownerUid: process.getuid?.() ?? 0 },
      environment: {},
      client,
      folder,
      ...changes,
    });
    if (problem === null) await serving;
    else await assert.rejects(serving, problem);
    assert.equal((await ended)[1], problem === null ? null : 'SIGTERM', what);
  }
});
