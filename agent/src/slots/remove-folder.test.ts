import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as otherWork } from 'node:timers/promises';
import { temporaryFolder } from '../../../tools/suite/temporary-folder.ts';
import { withoutExchange } from '../../testing/attacks.ts';
import { removeExchanged } from '../../testing/races/remove-exchanged.ts';
import { findProgram } from '../processes/programs.ts';
import { forceRemove } from './remove-folder.ts';

const skip =
  process.getuid?.() === 0 ? withoutExchange : 'needs root: only root removes what belongs to others';

test(
  'a folder that is exchanged for a link during its removal leads nowhere, each of 10 times',
  {
    skip,
  },
  (t) => removeExchanged(t, 10),
);

test('a program is started only for a folder that exists', async (t) => {
  const folder = temporaryFolder(t, 'remove-');
  const hasProcess = () => process.getActiveResourcesInfo().includes('ProcessWrap');
  const starts = async (name: string) => {
    // One that an earlier test started may have ended just now.
    while (hasProcess()) await otherWork();
    const removed = forceRemove(join(folder, name));
    const isStarted = hasProcess();
    await removed;
    return isStarted;
  };
  mkdirSync(join(folder, 'full', 'deep'), { recursive: true });
  assert.equal(await starts('missing'), false);
  assert.equal(await starts('full'), findProgram('rm') !== null);
  assert.equal(existsSync(join(folder, 'full')), false);
});
