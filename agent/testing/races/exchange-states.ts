/** For tests: a run exchanges the folder of its state for a link to the state of another environment. */
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type confinements, exchangingLine } from '../attacks.ts';
import { expectResult } from '../outcomes.ts';
import { createSetup, type Ran, type Running } from '../runner-setup.ts';

const planted = 'planted-secret-0123456789';
const victimUid = 57_999;
const exchangeSeconds = 2;
const pollMilliseconds = 20;

const stolen = JSON.stringify({
  version: 4,
  terraform_version: '1.11.4',
  serial: 999,
  lineage: planted,
  outputs: { password: { value: planted, type: 'string' } },
  resources: [],
});

/** Applies such a configuration again and again, and checks that the other state is never stored. */
export async function exchangeStates(
  t: TestContext,
  { options }: (typeof confinements)[number],
  times: number,
): Promise<void> {
  const setup = createSetup(t, { readme: 'x' }, options);
  const victim = join(setup.workFolder, '00000000-0000-7000-8000-0000000000e2', 'state', 'test-one');
  mkdirSync(victim, { recursive: true });
  for (const name of ['terraform.tfstate', 'errored.tfstate']) writeFileSync(join(victim, name), stolen);
  if (setup.slotUid !== null) {
    for (const name of ['', 'terraform.tfstate', 'errored.tfstate'])
      chownSync(join(victim, name), victimUid, victimUid);
    chmodSync(victim, 0o700);
  }
  const exchange = exchangingLine(
    '../state/test-one',
    '../state/other',
    exchangeSeconds,
    'utime undef, undef, "../state/test-one/terraform.tfstate";',
  );
  setup.commit({
    'main.tf': 'resource "terraform_data" "first" {}\nmodule "sub" { source = "./sub" }\n',
    'sub/main.tf': `resource "terraform_data" "hostile" {
  provisioner "local-exec" { command = "sh attack.sh" }
}\n`,
    'attack.sh': `ln -s ${victim} ../state/other\nln -s ${victim}/errored.tfstate errored.tfstate\n${exchange}\necho attacked\n`,
  });
  const planned = await expectResult('planned', setup.run(setup.job()));
  for (let count = 0; count < times; count++) {
    const running = setup.start(setup.applyJob(planned, { onOtherMachine: true }));
    const ran = await watched(running);
    assert.match(ran.log('tf:apply'), /attacked/, JSON.stringify(ran.outcome));
    assert.doesNotMatch(JSON.stringify(ran.outcome) + ran.log('tf:apply'), new RegExp(planted));
  }
}

/** Looks at every state that it stores, of which only the newest are kept. */
async function watched(running: Running): Promise<Ran> {
  let problem: string | undefined;
  const look = () => {
    for (const name of readdirSync(running.spool.states))
      try {
        if (readFileSync(join(running.spool.states, name), 'utf8').includes(planted))
          problem = `the other state was stored as ${name}`;
      } catch {}
  };
  const timer = setInterval(look, pollMilliseconds);
  const ran = await running.ended.finally(() => clearInterval(timer));
  look();
  assert.equal(problem, undefined);
  return ran;
}
