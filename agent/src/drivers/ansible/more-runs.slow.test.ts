/** More playbooks with the real runner and the real Ansible: each type of plan, destroys and repetitions. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExactNumber } from '#contract/schema/exact-json.ts';
import { readExample } from '../../../../tools/examples.ts';
import { ansibleStage, withAnsible } from '../../../testing/ansible-stage.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';

test(
  'plans of every type say what would change; without a change, the plan is empty',
  withAnsible,
  async (t) => {
    const { world, run, apply, job } = ansibleStage(t, readExample('ansible'));
    for (const type of ['prPlan', 'dryRun'] as const) {
      const { outcome } = await run(job({ type }));
      assert.deepEqual(outcome.planSummary, { added: 2, changed: 0, destroyed: 0, unknown: 1 }, type);
      assert.equal(outcome.approvedParts, undefined, 'nothing is kept for an apply');
      assert.deepEqual(readdirSync(world), []);
    }
    await apply(await run(job()));
    const { outcome } = await run(job());
    assert.deepEqual(outcome.planSummary, { added: 0, changed: 0, destroyed: 0 });
    assert.equal(outcome.hasChanges, false);
  },
);

test('a destroy without a playbook for it runs nothing, and says so', withAnsible, async (t) => {
  const { 'destroy.yml': _, ...files } = readExample('ansible');
  const { world, run, apply, job } = ansibleStage(t, files);
  await apply(await run(job()));
  const planned = await run(job({ type: 'destroy' }));
  assert.equal(planned.outcome.hasChanges, true);
  assert.match(
    planned.outcome.plan?.resourceChanges[0]?.actionReason ?? '',
    /has no destroy\.yml or destroy\.yaml/,
  );
  assert.deepEqual(planned.outcome.planSummary, { added: 0, changed: 0, destroyed: 0, unknown: 1 });
  const applied = await expectResult('applied', apply(planned));
  assert.match(applied.log('ansible:destroy'), /Nothing is destroyed/);
  assert.ok(existsSync(join(world, 'site/index.html')));
});

test('a playbook in another folder has what is next to it', withAnsible, async (t) => {
  const files = {
    'ansible.cfg': '[defaults]\ninventory = lists/hosts\nroles_path =\n  shared\n',
    'lists/hosts': 'localhost ansible_connection=local\n',
    'shared/common/tasks/main.yml': '- ansible.builtin.debug:\n    msg: "shared role"\n',
    'sub/site.yml': `- hosts: all
  gather_facts: false
  roles: [common]
  tasks:
    - ansible.builtin.debug:
        msg: "{{ adjacent }} {{ 1 | own.tools.inc }} {{ extra }} {{ structured.list[1] }} {{ users[0].name }}"
`,
    'sub/group_vars/all.yml': 'adjacent: group variable\n',
    'sub/collections/ansible_collections/own/tools/plugins/filter/inc.py':
      "class FilterModule:\n    def filters(self):\n        return {'inc': lambda number: number + 1}\n",
  };
  const environment = { ENVARIUM_ANSIBLE_PLAYBOOK: 'sub/site.yml', ANSIBLE_VAR_extra: 'wins' };
  const { run, job } = ansibleStage(t, files, { environment, extra: { extra: 'loses' } });
  const base = job();
  const terraform = [
    ...base.variables.terraform,
    { name: 'structured', value: '{ list = ["a", "b"] }', format: 'HCL' as const, isSensitive: false },
  ];
  const environmentVariables = [
    ...base.variables.environment,
    { name: 'ANSIBLE_VAR_users', value: '[{"name":"a-user"}]', format: 'JSON' as const, isSensitive: false },
  ];
  const planned = await expectResult(
    'planned',
    run({ ...base, variables: { environment: environmentVariables, terraform } }),
  );
  assert.match(planned.log('ansible:check'), /shared role/);
  assert.match(planned.log('ansible:check'), /group variable 2 wins b a-user/);
});

test('options and limits of hosts reach Ansible without its arguments', withAnsible, async (t) => {
  const files = {
    'playbook.yml': `- hosts: all
  gather_facts: false
  tasks:
    - {ansible.builtin.debug: {msg: "tagged on {{ inventory_hostname }}"}, tags: wanted}
    - {ansible.builtin.debug: {msg: "untagged"}}
`,
    hosts: '[web]\none\ntwo\n[db]\nthree\n[all:vars]\nansible_connection=local\n',
  };
  const environment = { ANSIBLE_CLI_limit: 'web:!two', ANSIBLE_CLI_tags: 'wanted' };
  const { run, job } = ansibleStage(t, files, { environment });
  const log = (await run(job())).log('ansible:check');
  assert.match(log, /tagged on one/);
  assert.doesNotMatch(log, /tagged on (two|three)|untagged/);
});

test(
  'a failed playbook says where, what it changed before is known, and it can be retried',
  withAnsible,
  async (t) => {
    const files = {
      'playbook.yml': `- name: Work
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Make a folder
      ansible.builtin.file: {path: "{{ site_folder }}", state: directory}
    - name: Try
      ansible.builtin.shell:
        cmd: 'echo x >> tries; test $(wc -l < tries) -gt 1 || { echo "not yet" >&2; exit 3; }'
        chdir: "{{ site_folder }}"
      when: not ansible_check_mode
    - name: Report
      ansible.builtin.set_stats: {data: {done: true, list: [1], date: 2026-01-31, large: 12345678901234567890, odd: .nan}}
`,
    };
    const { world, run, apply, job } = ansibleStage(t, files);
    const planned = await expectResult('planned', run(job()));
    const failed = await apply(planned);
    assert.match(
      failureMessageOf(failed),
      /^localhost failed in task "Try": non-zero return code\n +not yet$/,
    );
    assert.equal(failed.outcome.error?.exitCode, 2);
    assert.deepEqual(
      failed.events.flatMap((event) =>
        event.kind === 'resource' && event.status !== 'started' ? [[event.name, event.status]] : [],
      ),
      [
        ['Make a folder', 'done'],
        ['Try', 'failed'],
      ],
    );
    assert.deepEqual(readdirSync(join(world, 'site')), ['tries']);
    const again = await run(job());
    writeFileSync(join(world, 'site/tries'), '');
    const retried = await expectResult(
      'applied',
      apply(again, { changes: { retry: { times: 1, isReviewed: true } } }),
    );
    assert.deepEqual(
      retried.events.flatMap((event) =>
        event.kind === 'resource' && event.status !== 'started' ? [[event.name, event.status]] : [],
      ),
      [
        ['Make a folder', 'done'],
        ['Try', 'failed'],
        ['Make a folder', 'done'],
        ['Try', 'done'],
        ['Report', 'done'],
      ],
    );
    const valueOf = (name: string) => retried.outcome.outputs?.[name]?.value;
    assert.deepEqual(
      ['done', 'date', 'large', 'odd'].map((name) => valueOf(name)),
      [true, '2026-01-31', new ExactNumber('12345678901234567890'), 'nan'],
    );
    assert.deepEqual(retried.outcome.outputs?.['list'], { value: [1], sensitive: false, type: 'list' });
  },
);
