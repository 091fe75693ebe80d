import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { firstThen } from '../../testing/configurations.ts';
import { expectResult } from '../../testing/outcomes.ts';
import { createSetup, withBubblewrap } from '../../testing/runner-setup.ts';

const planted = 'planted-secret-0123456789';

function hostile(command: string): string {
  return firstThen('hostile', command);
}

test(
  'a run without its own user can access only its own folders and processes',
  withBubblewrap,
  async (t) => {
    const setup = createSetup(t, { readme: 'x' }, { asOrdinaryUser: true });
    writeFileSync(join(setup.folder, 'spool', 'key'), planted);
    const commands = [
      `cat ${setup.folder}/spool/key`,
      `ls ${setup.folder}/spool`,
      `ls ${setup.folder}`,
      'ls / /home /root /var /run',
      'echo processes: $(ls /proc | grep -c "^[0-9]")',
      `echo x > ${setup.workFolder}/planted`,
      'touch /etc/planted /usr/planted',
      'setsid sleep 1000 >/dev/null 2>&1 &',
      'echo descriptors: $(ls /proc/1/fd | tr "\\n" " ")',
    ];
    setup.commit({ 'main.tf': hostile(`exec 2>&1; ${commands.join('\n')}\ntrue`) });
    const ran = await setup.run(setup.applyJob(await setup.run(setup.job())));
    assert.equal(ran.outcome.result, 'applied', `${JSON.stringify(ran.outcome)} ${ran.log('tf:apply')}`);
    const log = ran.log('tf:apply');
    assert.doesNotMatch(log, new RegExp(planted));
    assert.doesNotMatch(log, new RegExp(`m(spool|repositories)\n`));
    assert.match(log, /touch: cannot touch '\/etc\/planted'/);
    assert.ok(Number(/processes: (\d+)/.exec(log)?.[1]) < 12, log);
    assert.equal(existsSync(join(setup.workFolder, 'planted')), false);
    assert.equal(ran.outcome.resourceCount, 2);
  },
);

test('an interrupt reaches the tool inside its sandbox', withBubblewrap, async (t) => {
  const setup = createSetup(t, { 'main.tf': hostile('echo began; sleep 100') }, { asOrdinaryUser: true });
  const running = setup.start(setup.applyJob(await setup.run(setup.job())));
  const log = running.spool.stepLog('tf:apply');
  await running.until(
    () => existsSync(log) && /began/.test(readFileSync(log, 'utf8')),
    'the provisioner to begin',
  );
  running.abort('gently');
  const ran = await expectResult('aborted', running.ended);
  assert.match(ran.log('tf:apply'), /Interrupt received/);
  assert.match(setup.newestState(ran)?.toString() ?? '', /"first"/);
});
