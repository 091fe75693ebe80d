import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../tools/suite/temporary-folder.ts';
import { readersOf } from '../../../testing/readers.ts';
import { identifyProcess, isRunning, statOf } from '../../processes/proc.ts';
import { TreeProcess } from './tree-process.ts';

test('a request that cannot be sent says that the process has ended', async (t) => {
  const folder = temporaryFolder(t, 'tree-process-');
  await using reader = new TreeProcess({ user: null, sandbox: null });
  await reader.attach(null);
  const list = () => reader.request({ operation: 'list', root: folder, name: '' });
  assert.deepEqual(await list(), { names: [] });
  const [{ pid } = assert.fail()] = readersOf(identifyProcess(process.pid) ?? assert.fail());
  process.kill(pid, 'SIGKILL');
  // Without a turn of the event loop, in which its parent would notice the end before the request.
  for (let state = statOf(pid); state !== null && isRunning(state); ) state = statOf(pid);
  await assert.rejects(list(), /the process that reads and writes the work folder has ended/);
});
