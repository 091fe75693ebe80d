import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confinements } from '../../testing/attacks.ts';
import { createSetup } from '../../testing/runner-setup.ts';
import { findProgram } from './programs.ts';

const kept = 'left-by-an-earlier-run';
const places = ['/tmp', '/var/tmp', '/dev/shm'];
const each = `for place in ${places.join(' ')}`;
/** Also a segment of shared memory, whose key others can guess. */
const leaving = `${each}; do echo ${kept} > $place/${kept}; done
ipcmk --shmem 4096 --mode 0666
echo over`;
const looking = `${each}; do cat $place/* 2>/dev/null | grep ${kept} || true; done
echo segments: $(tail -n +2 /proc/sysvipc/shm | wc -l)
echo over`;

for (const { name, skip, options } of confinements.filter(({ name }) => name.startsWith('in namespaces')))
  test(`a run finds nothing that an earlier run left in common places, confined ${name}`, {
    skip: skip || (findProgram('ipcmk') === null ? 'needs ipcmk' : false),
  }, async (t) => {
    const setup = createSetup(t, { 'main.tf': '' }, options);
    for (const taskPayload of [leaving, looking]) {
      const ran = await setup.run(setup.job({ type: 'task', taskPayload }));
      const log = ran.log('task:run');
      assert.match(log, /^over$/m, JSON.stringify(ran.outcome));
      if (taskPayload === leaving) continue;
      assert.doesNotMatch(log.replaceAll(/^>.*$/gm, ''), new RegExp(`^${kept}$`, 'm'));
      assert.match(log, /^segments: 0$/m);
    }
  });
