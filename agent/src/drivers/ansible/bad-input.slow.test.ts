/** Repositories, hosts and variables that no playbook can work with, with the real runner and the real Ansible. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../../../../tools/suite/free-port.ts';
import { ansibleStage, withAnsible } from '../../../testing/ansible-stage.ts';
import { expectResult, failureMessageOf } from '../../../testing/outcomes.ts';
import { processesOf } from '../../processes/end-processes.ts';

const play = (tasks: string) => `- name: Work
  hosts: localhost
  gather_facts: false
  tasks:
${tasks}`;

/** The text `hidden: from the vault`, encrypted with the password `right`. */
const vaulted = `$ANSIBLE_VAULT;1.1;AES256
65356263636236366263323530376363653533383861346265396535323965633531613037663063
3733613539633935323463393232663561613436633264320a353433383666333034396432333564
32656236613632303063366531643264306562353765383438336334663736353862313062326266
3861343435386162340a366132313233326565353763326162343635663439343561396165393031
31653337643464316635383630316335313131353536666365313735336264326239
`;

const cases: Record<
  string,
  {
    files: Record<string, string>;
    environment?: Record<string, string>;
    message: RegExp;
    step?: string;
  }
> = {
  'no playbook': {
    files: { 'site.yml': play('    - ansible.builtin.debug:\n') },
    step: 'variables:setup',
    message:
      /^No playbook: the root of .* has neither playbook\.yml nor playbook\.yaml; .*ENVARIUM_ANSIBLE_PLAYBOOK/,
  },
  'a playbook that does not exist': {
    files: { 'playbook.yml': '' },
    environment: { ENVARIUM_ANSIBLE_PLAYBOOK: 'other.yml' },
    step: 'variables:setup',
    message: /^ENVARIUM_ANSIBLE_PLAYBOOK: the repository has no such file/,
  },
  'a playbook outside of the repository': {
    files: { 'playbook.yml': '' },
    environment: { ENVARIUM_ANSIBLE_PLAYBOOK: '../other.yml' },
    step: 'variables:setup',
    message: /^ENVARIUM_ANSIBLE_PLAYBOOK: a path must not contain \.\./,
  },
  'YAML that does not parse': {
    files: { 'playbook.yml': play('    - ansible.builtin.debug: {msg: x\n') },
    message: /^YAML parsing failed: .*\n.*playbook\.yml:6/s,
  },
  'a play with an unknown key': {
    files: { 'playbook.yml': '- hosts: localhost\n  foo: bar\n' },
    message: /^'foo' is not a valid attribute for a Play/,
  },
  'a module of a missing collection': {
    files: { 'playbook.yml': play('    - community.none.thing: {}\n') },
    message:
      /^couldn't resolve module\/action 'community\.none\.thing'.*needs that collection in requirements\.yml\.$/s,
  },
  'a collection that is not there': {
    files: {
      'playbook.yml': play('    - ansible.builtin.debug:\n'),
      'requirements.yml': 'collections:\n  - {name: ./none, type: dir}\n',
    },
    step: 'ansible:galaxy',
    message: /none/,
  },
  'a wrong vault password': {
    files: {
      'playbook.yml': `- hosts: localhost\n  gather_facts: false\n  vars_files: [secret.yml]\n  tasks: []\n`,
      'secret.yml': vaulted,
      password: 'wrong\n',
    },
    environment: { ANSIBLE_VAULT_PASSWORD_FILE: 'password' },
    message: /[Dd]ecryption failed/,
  },
  'a failed task': {
    files: {
      'playbook.yml': play('    - name: Stop here\n      ansible.builtin.fail: {msg: "not today"}\n'),
    },
    message:
      /^localhost failed in task "Stop here": not today\nThis was check mode.* With ENVARIUM_SKIP_ANSIBLE_CHECK=true/,
  },
  'a failed item of a loop': {
    files: {
      'playbook.yml': play(
        '    - name: Each\n      ansible.builtin.fail: {msg: "not {{ item }}"}\n      loop: [one]\n',
      ),
    },
    message: /^localhost failed in task "Each": not one/,
  },
};

for (const [name, { files, environment = {}, message, step = 'ansible:check' }] of Object.entries(cases)) {
  test(`${name}: a clear error in ${step}`, withAnsible, async (t) => {
    const { run, job } = ansibleStage(t, files, { environment });
    const { outcome, steps } = await expectResult('failed', run(job()));
    assert.match(outcome.error?.message ?? '', message);
    assert.equal(steps()[step], 'FAIL');
  });
}

test('with the password, the vault is open', withAnsible, async (t) => {
  const files = {
    'playbook.yml': `- hosts: localhost
  gather_facts: false
  vars_files: [secret.yml]
  tasks:
    - ansible.builtin.debug: {msg: "it was {{ hidden }}"}
`,
    'secret.yml': vaulted,
    password: 'right\n',
  };
  const { run, job } = ansibleStage(t, files, {
    environment: { ANSIBLE_CLI_vault_password_file: 'password' },
  });
  assert.match((await run(job())).log('ansible:check'), /it was from the vault/);
});

test('an unreachable host is reported, together with the others', withAnsible, async (t) => {
  const port = await freePort();
  const files = {
    'playbook.yml': '- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.ping:\n',
    hosts: `far ansible_host=127.0.0.1 ansible_port=${port} ansible_user=nobody\nnear ansible_connection=local\n`,
  };
  const { run, job } = ansibleStage(t, files);
  const { outcome } = await expectResult('failed', run(job()));
  assert.match(
    outcome.error?.message ?? '',
    /^far could not be reached in task "(ansible\.builtin\.)?ping": /,
  );
  assert.doesNotMatch(outcome.error?.message ?? '', /check mode|SKIP_ANSIBLE_CHECK/);
});

test(
  'a variable that no run can have is refused with the name of what it can have',
  withAnsible,
  async (t) => {
    const files = { 'playbook.yml': play('    - ansible.builtin.debug:\n') };
    const environment = { ANSIBLE_CLI_start_at_task: 'x', ANSIBLE_CLI_nonsense: 'x', 'ANSIBLE_VAR_a-b': 'x' };
    const { run, job } = ansibleStage(t, files, { environment });
    const { outcome } = await run(job());
    assert.match(
      outcome.error?.message ?? '',
      /ANSIBLE_CLI_start_at_task: it cannot be set: .*ANSIBLE_CLI_tags/,
    );
    assert.match(outcome.error?.message ?? '', /ANSIBLE_CLI_nonsense: .*it can have become, .*verbosity/);
    assert.match(outcome.error?.message ?? '', /ANSIBLE_VAR_a-b: "a-b" cannot be the name/);
  },
);

const loudPlugin = `from ansible.plugins.callback import CallbackBase
class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'stdout'
    CALLBACK_NAME = 'odd'
    def v2_playbook_on_stats(self, stats):
        for _ in range(MEGABYTES):
            print('x' * 999999)
`;

for (const megabytes of [0, 100]) {
  test(`a tool that writes ${megabytes} MB has its plan and its end`, withAnsible, async (t) => {
    const files = {
      'playbook.yml': play(`    - name: Large file
      ansible.builtin.copy: {dest: "{{ site_folder }}", content: "{{ 'y' * 1000000 }}"}
`),
      'plugins/odd.py': loudPlugin.replace('MEGABYTES', String(megabytes)),
      'ansible.cfg': '[defaults]\ncallback_plugins: plugins\nstdout_callback: odd\n',
    };
    const { run, job } = ansibleStage(t, files);
    const planned = await run(job());
    assert.equal(planned.outcome.result, 'planned', JSON.stringify(planned.outcome).slice(0, 2000));
    assert.deepEqual(planned.outcome.planSummary, { added: 1, changed: 0, destroyed: 0 });
    assert.ok(JSON.stringify(planned.outcome).length < 100_000);
    assert.equal(Math.round(planned.log('ansible:check').length / 1e6), megabytes);
  });
}

test('an abort interrupts the playbook, and what it changed before is known', withAnsible, async (t) => {
  const files = {
    'playbook.yml': play(`    - name: First
      ansible.builtin.file: {path: "{{ site_folder }}", state: directory}
    - name: Slow
      ansible.builtin.shell: touch "{{ site_folder }}/began"; sleep 100
      when: not ansible_check_mode
`),
  };
  const { setup, world, run, start, job } = ansibleStage(t, files);
  const running = start(setup.applyJob(await run(job())));
  await running.until(() => existsSync(join(world, 'site/began')), 'the slow task');
  running.abort('gently');
  const ran = await expectResult('aborted', running.ended);
  assert.ok(
    ran.events.some(
      (event) => event.kind === 'resource' && event.name === 'First' && event.status === 'done',
    ),
  );
  if (setup.slotUid !== null) assert.deepEqual(processesOf(setup.slotUid), []);
});

test('a playbook that is killed is not started again, and its events are kept', withAnsible, async (t) => {
  const files = {
    'playbook.yml': play(`    - name: First
      ansible.builtin.file: {path: "{{ site_folder }}", state: directory}
    - name: Deadly
      ansible.builtin.shell: echo x >> "{{ site_folder }}/tries"; kill -9 $(cat "{{ site_folder }}/../pid"); sleep 100
      when: not ansible_check_mode
    - name: Never
      ansible.builtin.debug:
`),
    'callback_plugins/pid.py': `import os
from ansible.plugins.callback import CallbackBase
class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = 'notification'
    CALLBACK_NAME = 'pid'
    def v2_playbook_on_start(self, playbook):
        open(os.environ['PID_FILE'], 'w').write(str(os.getpid()))
`,
    'ansible.cfg': '[defaults]\ncallback_plugins = callback_plugins\n',
  };
  const { setup, world, run, apply, job } = ansibleStage(t, files);
  const base = job();
  const environment = [{ name: 'PID_FILE', value: join(world, 'pid'), isSensitive: false }];
  const planned = await run({ ...base, variables: { ...base.variables, environment } });
  const ran = await apply(planned);
  assert.match(failureMessageOf(ran), /^ansible-playbook was ended by signal SIGKILL/);
  assert.deepEqual(
    ran.events.flatMap((event) => (event.kind === 'resource' ? [[event.name, event.status]] : [])),
    [
      ['First', 'started'],
      ['First', 'done'],
      ['Deadly', 'started'],
    ],
  );
  assert.equal(readFileSync(join(world, 'site/tries'), 'utf8'), 'x\n');
  if (setup.slotUid !== null) assert.deepEqual(processesOf(setup.slotUid), []);
  assert.deepEqual(readdirSync(join(world)).sort(), ['pid', 'site']);
});

test('a drift run without the check is refused', withAnsible, async (t) => {
  const environment = { ENVARIUM_SKIP_ANSIBLE_CHECK: 'true' };
  const files = { 'playbook.yml': play('    - ansible.builtin.debug:\n') };
  const { run, job } = ansibleStage(t, files, { environment });
  const { outcome } = await run(job({ type: 'driftDetection' }));
  assert.match(
    outcome.error?.message ?? '',
    /^ENVARIUM_SKIP_ANSIBLE_CHECK is set, and a drift run consists of the check/,
  );
});
