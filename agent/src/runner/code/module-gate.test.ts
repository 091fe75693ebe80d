import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import type { AttemptContext } from '../../attempt/attempt-context.ts';
import { RunFailure } from '../../processes/failure.ts';
import { openModuleGate } from './checkout-step.ts';

// Needs a process of its own: it counts the servers of the process, of which earlier files may still close some.
const openServers = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;

test('the gate over https is closed when the one over ssh cannot be opened', async (t) => {
  const folder = temporaryFolder(t, 'gate-');
  const attempt = {
    job: {
      source: {
        repository: 'https://git.example.com/team/network.git',
        credentials: { username: 'git', password: 'a-token' },
        httpHosts: [],
        ssh: { keys: [], knownHosts: '' },
      },
    },
    folders: { root: join(folder, 'missing'), gitConfig: join(folder, 'git-config') },
    order: { workFolder: folder, slotUid: null },
    spool: { scratch: folder },
  } as unknown as AttemptContext;
  const before = openServers();
  await assert.rejects(openModuleGate(attempt), RunFailure);
  // A handle is listed for some turns of the event loop after it was closed.
  for (let turn = 0; openServers() > before && turn < 1000; turn++) await setImmediate();
  assert.equal(openServers(), before);
});
