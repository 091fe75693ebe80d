/** Runs Ansible that the toolchain has installed, with the real runner. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pythonProgram } from '../../../../tools/toolbox/places.ts';
import { withAnsible } from '../../../testing/ansible-stage.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { createSetup, type RunnerSetup, withBubblewrap } from '../../../testing/runner-setup.ts';
import { ansibleWheels, type Wheel, wheelFile, wheelOf } from '../../../testing/toolchain/python-index.ts';
import { findProgram } from '../../processes/programs.ts';
import type { ToolchainOrder } from '../../toolchain/tool-mirror.ts';

const files = {
  'playbook.yml': [
    '- hosts: localhost',
    '  connection: local',
    '  gather_facts: false',
    '  tasks:',
    '    - name: Write a file',
    '      ansible.builtin.copy: { content: "one", dest: "{{ playbook_dir }}/written", mode: "0644" }',
    '',
  ].join('\n'),
};
const toolPaths = { 'ansible-playbook': '', 'ansible-galaxy': '', git: findProgram('git') ?? '' };

/** Wheels that report a version, and run the Ansible of the toolbox. */
function posing(core: string, ...community: readonly string[]): Wheel[] {
  const passesTo = dirname(pythonProgram('ansible') ?? '');
  return ansibleWheels(core, ...community).map((wheel) => ({ ...wheel, passesTo }));
}

function toolchainOf(setup: RunnerSetup, wheels: readonly Wheel[], name = 'cache'): ToolchainOrder {
  const folder = join(setup.folder, `wheels-${name}`);
  mkdirSync(folder);
  for (const wheel of wheels) writeFileSync(join(folder, wheelFile(wheel)), wheelOf(wheel));
  const cacheFolder = join(setup.folder, name);
  mkdirSync(cacheFolder, { mode: 0o755 });
  return { cacheFolder, cacheBytes: 1e9, mirrors: { 'ansible-playbook': { url: folder } } };
}

test('a run has the version of the package that it requests, and applies with it', withAnsible, async (t) => {
  const setup = createSetup(t, files, { isolation: 'off' });
  const toolchain = toolchainOf(setup, [...posing('2.16.3', '9.2.0'), ...posing('2.17.1', '10.1.0')]);
  const job = () => setup.job({ tool: 'ansible', toolVersion: '9.2.0' });
  const planned = await expectResult('planned', setup.run(job(), { order: { toolchain }, toolPaths }));
  assert.equal(planned.outcome.toolVersion, '9.2.0');
  const log = planned.log('variables:setup');
  assert.match(log, /^Installing ansible==9\.2\.0 from \S+wheels-cache$/m);
  assert.match(
    log,
    /^ansible-playbook 9\.2\.0 \(\S+\/ansible-playbook, from the tool cache; it reports version 2\.16\.3\)$/m,
  );
  const applied = await expectResult(
    'applied',
    setup.run(setup.applyJob(planned), { order: { toolchain }, toolPaths }),
  );
  assert.equal(applied.outcome.toolVersion, '9.2.0');
  const elsewhere = toolchainOf(setup, posing('2.16.3', '9.2.0'), 'another');
  const again = await setup.run(job(), { order: { toolchain }, toolPaths });
  assert.doesNotMatch(again.log('variables:setup'), /Installing/);
  const moved = await setup.run(setup.applyJob(again, { onOtherMachine: true }), {
    order: { toolchain: elsewhere },
    toolPaths,
  });
  assert.equal(moved.outcome.result, 'applied', JSON.stringify(moved.outcome.error));
  assert.match(moved.log('apply:prepare'), /^Installing ansible==9\.2\.0/m);
  rmSync(join(setup.folder, 'wheels-cache'), { recursive: true });
  const lost = setup.applyJob(await setup.run(job(), { order: { toolchain }, toolPaths }), {
    onOtherMachine: true,
  });
  rmSync(join(elsewhere.cacheFolder, 'releases'), { recursive: true });
  rmSync(join(setup.folder, 'wheels-another'), { recursive: true });
  const refused = await setup.run(lost, { order: { toolchain: elsewhere }, toolPaths });
  assert.match(
    failureMessageOf(refused),
    /^ansible-playbook 9\.2\.0 \(requested by the approved plan\) could not be obtained: .*; nothing was applied$/,
  );
});

test('in a sandbox a run sees the environment that was installed, and cannot change it', {
  skip: withAnsible.skip || withBubblewrap.skip,
}, async (t) => {
  const setup = createSetup(t, files);
  const toolchain = toolchainOf(setup, posing('2.16.3', '9.2.0'));
  const variables = {
    environment: [{ name: 'ENVARIUM_ANSIBLE_VERSION', value: '2.16.3', isSensitive: false }],
    terraform: [],
  };
  const planned = await setup.run(setup.job({ tool: 'ansible', toolVersion: 'latest', variables }), {
    order: { toolchain },
    toolPaths,
  });
  assert.equal(planned.outcome.result, 'planned', JSON.stringify(planned.outcome.error));
  assert.equal(planned.outcome.toolVersion, '2.16.3');
  const task = setup.job({
    tool: 'ansible',
    type: 'task',
    toolVersion: '2.16.3',
    taskPayload: [
      'ansible-galaxy --version',
      'root=$(dirname "$(dirname "$(readlink -f "$(command -v ansible-playbook)")")")',
      '! touch "$root/made"',
      '! ls "$root/../../releases"',
    ].join('\n'),
  });
  const ran = await expectResult('applied', setup.run(task, { order: { toolchain }, toolPaths }));
  assert.match(ran.log('task:run'), /core 2\.16\.3/);
  assert.equal(readdirSync(join(toolchain.cacheFolder, 'environments')).length, 1);
});
