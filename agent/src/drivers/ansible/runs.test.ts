/** Plans and applies the example repository with the real runner and the real Ansible. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readExample } from '../../../../tools/examples.ts';
import { ansibleStage, withAnsible } from '../../../testing/ansible-stage.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';

for (const onOtherMachine of [false, true]) {
  test(
    `a deployment plans and applies, ${onOtherMachine ? 'on another machine' : 'in the kept tree'}`,
    withAnsible,
    async (t) => {
      const { world, run, apply, job } = ansibleStage(t, readExample('ansible'), {
        extra: { site_title: 'One' },
      });
      const planned = await expectResult('planned', run(job()));
      assert.deepEqual(planned.outcome.planSummary, { added: 2, changed: 0, destroyed: 0, unknown: 1 });
      assert.equal(planned.outcome.toolVersion, '2.19.14');
      assert.deepEqual(readdirSync(world), []);
      assert.match(planned.log('ansible:check'), /Check mode does not run these tasks.*\n.*Count the words/);
      const applied = await expectResult('applied', apply(planned, { onOtherMachine }));
      assert.match(readFileSync(join(world, 'site/index.html'), 'utf8'), /<h1>One<\/h1>/);
      assert.deepEqual(applied.outcome.outputs, {
        site_folder: { value: join(world, 'site'), sensitive: false, type: 'string' },
      });
      assert.deepEqual(applied.outcome.resources, [
        { provider: 'ansible', type: 'host', name: 'localhost', moduleName: '' },
      ]);
      assert.deepEqual(applied.steps(), { 'apply:prepare': 'SUCCESS', 'ansible:playbook': 'SUCCESS' });
      const events = applied.events.filter((event) => event.kind === 'resource');
      assert.deepEqual(
        events.filter(({ status }) => status === 'done').map(({ address, action }) => [address, action]),
        [
          ['localhost/site/Create the folder', 'update'],
          ['localhost/site/Write the page', 'update'],
          ['localhost/Web sites/Report the sites', 'read'],
          ['localhost/site/Count the words', 'read'],
        ],
      );
      assert.deepEqual(events.filter(({ status }) => status === 'started').length, 4);
    },
  );
}

test('a drift run names what was changed by hand, and its values', withAnsible, async (t) => {
  const { world, run, apply, job } = ansibleStage(t, readExample('ansible'));
  await apply(await run(job()));
  const page = join(world, 'site/index.html');
  const secret = 'planted-in-the-page';
  writeFileSync(page, `${readFileSync(page, 'utf8')}<p>${secret}</p>\n`);
  const drift = await expectResult('planned', run(job({ type: 'driftDetection', secrets: [secret] })));
  assert.deepEqual(drift.outcome.planSummary, { added: 0, changed: 1, destroyed: 0, unknown: 1 });
  const [row] = drift.outcome.plan?.resourceChanges ?? [];
  assert.equal(row?.path, 'localhost/site/Write the page');
  assert.equal(row?.moduleName, 'site');
  const [attribute] = row?.attributes ?? [];
  assert.equal(attribute?.name, page);
  assert.match(String(attribute?.before), /<p>\*\*\*<\/p>/);
  assert.match(String(attribute?.after), /<h1>Hello<\/h1>\n$/);
  assert.equal(drift.outcome.approvedParts, undefined);
});

test(
  'a path of modules is searched next to that of the configuration, and warnings are reported',
  withAnsible,
  async (t) => {
    const module = (name: string) => `from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule({}, supports_check_mode=True)
module.exit_json(changed=True, msg="${name}")
`;
    const { job, run } = ansibleStage(
      t,
      {
        'site.yml':
          '- hosts: localhost\n  gather_facts: false\n  tasks: [{ own_one: {} }, { own_two: {} }, { debug: { msg: x }, tags: slow }]\n',
        'ansible.cfg': '[defaults]\nlibrary = one\n[tags]\nskip = slow\n',
        'one/own_one.py': module('one'),
        'two/own_two.py': module('two'),
      },
      { environment: { ANSIBLE_CLI_module_path: 'two', ENVARIUM_ANSIBLE_PLAYBOOK: 'site.yml' } },
    );
    const { outcome, log } = await expectResult('planned', run(job()));
    assert.deepEqual(
      outcome.plan?.resourceChanges.map(({ type }) => type),
      ['own_one', 'own_two'],
      log('ansible:check'),
    );
    const { diagnostics = [] } = outcome;
    assert.ok(
      diagnostics.some(({ severity, text }) => severity === 'warning' && text.includes('localhost')),
      JSON.stringify(diagnostics),
    );
  },
);

test('a destroy runs the playbook for it', withAnsible, async (t) => {
  const { world, run, apply, job } = ansibleStage(t, readExample('ansible'));
  await apply(await run(job()));
  const planned = await run(job({ type: 'destroy' }));
  assert.deepEqual(planned.outcome.planSummary, { added: 0, changed: 0, destroyed: 1 });
  const applied = await expectResult('applied', apply(planned));
  assert.equal(applied.steps()['ansible:destroy'], 'SUCCESS');
  assert.deepEqual(readdirSync(world), []);
});

test('without a check, the plan says that nothing is known, and the apply runs', withAnsible, async (t) => {
  const environment = { ENVARIUM_SKIP_ANSIBLE_CHECK: 'true' };
  const { world, run, apply, job } = ansibleStage(t, readExample('ansible'), { environment });
  const planned = await run(job());
  assert.equal(planned.outcome.hasChanges, true);
  assert.match(planned.outcome.plan?.resourceChanges[0]?.actionReason ?? '', /nothing was checked/);
  await expectResult('applied', apply(planned));
  assert.ok(existsSync(join(world, 'site/index.html')));
});

test('what is required is installed in the plan, and is in the apply', withAnsible, async (t) => {
  const files = {
    'requirements.yml': 'collections:\n  - {name: ./code/tools, type: dir}\n',
    'code/tools/galaxy.yml': 'namespace: own\nname: tools\nversion: 1.2.3\nreadme: README.md\nauthors: [A]\n',
    'code/tools/README.md': 'Tools\n',
    'code/tools/plugins/filter/inc.py':
      "class FilterModule:\n    def filters(self):\n        return {'inc': lambda number: number + 1}\n",
    'playbook.yml': `- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.set_stats: {data: {number: "{{ 1 | own.tools.inc }}"}}
`,
  };
  const { run, apply, job } = ansibleStage(t, files);
  const planned = await expectResult('planned', run(job()));
  assert.deepEqual(planned.outcome.moduleVersions, { 'own.tools': '1.2.3' });
  assert.equal(planned.steps()['ansible:galaxy'], 'SUCCESS');
  const applied = await expectResult('applied', apply(planned, { onOtherMachine: true }));
  assert.equal(String(applied.outcome.outputs?.['number']?.value), '2');
});

test('what tasks with no_log do is hidden in plan, outputs and messages', withAnsible, async (t) => {
  const planted = 'planted-in-a-task';
  const files = {
    'playbook.yml': `- hosts: localhost
  gather_facts: false
  tasks:
    - name: Hidden file
      ansible.builtin.copy: {dest: "{{ site_folder }}", content: "${planted}"}
      no_log: true
    - name: Hidden items
      ansible.builtin.copy: {dest: "{{ site_folder }}{{ item }}", content: "x"}
      loop: ["-${planted}"]
      no_log: true
    - name: Hidden output
      ansible.builtin.set_stats: {data: {token: "${planted}"}}
      no_log: true
    - name: Hidden failure
      ansible.builtin.fail: {msg: "${planted}"}
      no_log: true
      when: not ansible_check_mode
      ignore_errors: "{{ passes }}"
`,
  };
  const { run, apply, job } = ansibleStage(t, files, { environment: { ANSIBLE_VAR_passes: 'true' } });
  const planned = await run(job());
  assert.equal(planned.outcome.planSummary?.changed, 2, JSON.stringify(planned.outcome));
  assert.doesNotMatch(JSON.stringify(planned.outcome), new RegExp(planted));
  const applied = await apply(planned);
  assert.deepEqual(applied.outcome.outputs, {
    token: { value: planted, sensitive: true, type: 'string' },
  });
  const failing = ansibleStage(t, files, { environment: { ANSIBLE_VAR_passes: 'false' } });
  const failed = await failing.apply(await failing.run(failing.job()));
  assert.match(failureMessageOf(failed), /"Hidden failure": the output is hidden/);
  assert.doesNotMatch(JSON.stringify([failed.outcome, failed.events]), new RegExp(planted));
});

test('a task has the variables, the inventory and the programs', withAnsible, async (t) => {
  const { run, job } = ansibleStage(t, readExample('ansible'));
  const done = await run(
    job({
      type: 'task',
      taskPayload: 'ansible-playbook -e @.envarium/extra-vars.json --list-hosts playbook.yml',
    }),
  );
  assert.equal(done.outcome.result, 'applied', JSON.stringify(done.outcome));
  assert.match(done.log('task:run'), /hosts \(1\):\n\s+localhost/);
});
