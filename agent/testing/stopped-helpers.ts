/** For tests: a run that stops every process that it sees. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { processesIn, processesOf } from '../src/processes/end-processes.ts';
import type { confinements } from './attacks.ts';
import { createSetup } from './runner-setup.ts';

/** Stops every process that it sees but itself and the tool: a few times, then until it is ended. */
const attack = `stop() {
  for entry in /proc/[0-9]*; do
    pid=\${entry#/proc/}; comm=
    read -r comm <$entry/comm
    [ $pid = $$ ] || [ $pid = $PPID ] || [ "$comm" = sh ] || [ "$comm" = terraform ] || kill -STOP $pid
  done
} 2>/dev/null
stop; stop; stop
while :; do stop; done >/dev/null &
echo attacked
`;
const runSeconds = 8;
/** For the start and the end of everything; where helpers have the run's user, also for one answer of theirs. */
const patienceMilliseconds = { apart: 30_000, sameUser: 90_000 };

/** Applies such a configuration, which has to end with a reason. */
export async function stopHelpers(t: TestContext, { options }: (typeof confinements)[number]): Promise<void> {
  const code = `resource "terraform_data" "hostile" {
  provisioner "local-exec" { command = "sh attack.sh" }
}\n`;
  const setup = createSetup(t, { 'main.tf': code, 'attack.sh': attack }, options);
  const job = setup.applyJob(await setup.run(setup.job()));
  const startedAt = performance.now();
  const ran = await setup.run({ ...job, limits: { ...job.limits, runSeconds, abortSeconds: 1 } });
  const took = performance.now() - startedAt;
  const { sameUser, apart } = patienceMilliseconds;
  assert.ok(took < runSeconds * 1000 + (setup.isolation.bubblewrap === null ? sameUser : apart));
  assert.match(ran.log('tf:apply'), /attacked/);
  if (ran.outcome.result !== 'applied') assert.notEqual(ran.outcome.error?.message ?? '', '');
  const left = setup.slotUid === null ? processesIn(setup.workFolder) : processesOf(setup.slotUid);
  assert.deepEqual(left, []);
}
