import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Job } from '#protocol/messages/job.ts';
import { AgentSetup } from '../../testing/agent-setup.ts';
import type { ServedAttempt } from '../../testing/protocol-server.ts';
import { withTerraform } from '../../testing/runner-setup.ts';
import { startVaultServer, type VaultServer, vaultToken } from '../../testing/secret-stores/vault-server.ts';

const code = `
variable "password" {}
resource "terraform_data" "first" {
  input = nonsensitive(sha256(var.password))
  provisioner "local-exec" { command = "echo token is $TOKEN and \${var.password}" }
}
output "password" { value = nonsensitive(var.password) }
`;

interface Scene {
  readonly setup: AgentSetup;
  readonly vault: VaultServer;
  readonly settings: Record<string, string>;
  job(): Job;
}

async function scene(t: TestContext): Promise<Scene> {
  const vault = await startVaultServer();
  t.after(() => vault[Symbol.asyncDispose]());
  const setup = await AgentSetup.create(t, { 'main.tf': code });
  const tokenFile = join(setup.folder, 'vault-token');
  writeFileSync(tokenFile, vaultToken, { mode: 0o600 });
  vault.putV2('app', { password: 'password-of-vault', token: 'token-of-${ENVARIUM_PROJECT_ID}-vault' });
  const settings = {
    ENVARIUM_SECRET_REFERENCES: 'vault:*',
    ENVARIUM_VAULT_ADDRESS: vault.address,
    ENVARIUM_VAULT_TOKEN_FILE: tokenFile,
  };
  const variables: Job['variables'] = {
    environment: [
      { name: 'TOKEN', value: '${vault:secret/app.token}', isSensitive: false, scope: 'PROJECT' },
    ],
    terraform: [
      { name: 'password', value: '${vault:secret/app.password}', isSensitive: true, scope: 'ENVIRONMENT' },
    ],
  };
  const systemVariables = { ENVARIUM_PROJECT_ID: 'expanded' };
  return { setup, vault, settings, job: () => setup.job({ variables, systemVariables }) };
}

const textOf = (attempt: ServedAttempt) =>
  JSON.stringify(attempt.events) +
  [...attempt.logs.values()].join('') +
  JSON.stringify({ ...attempt.outcome });

test(
  'a run gets the values of a secret store, and nothing that leaves the agent shows them',
  withTerraform,
  async (t) => {
    const { setup, settings, job } = await scene(t);
    setup.server.handOver = (attempt, outcome) =>
      outcome.result === 'planned'
        ? { ...setup.applyJob(attempt, true), systemVariables: { ENVARIUM_PROJECT_ID: 'expanded' } }
        : null;
    const agent = setup.startAgent(settings);
    const first = job();
    setup.server.enqueue(first);
    const planned = await setup.outcomeOf(first);
    assert.equal(planned.outcome?.result, 'planned', JSON.stringify(planned.outcome) + agent.log());
    const applied = await setup.outcomeOf({ jobId: 'job-2', attempt: 1 });
    assert.equal(applied.outcome?.result, 'applied', JSON.stringify(applied.outcome) + agent.log());
    assert.match(applied.logs.get('tf:apply')?.toString() ?? '', /token is \*\*\* and \*\*\*/);
    // The value reached the tool: its state has it.
    assert.match(applied.states.at(-1)?.bytes.toString() ?? '', /password-of-vault/);
    for (const attempt of [planned, applied])
      assert.doesNotMatch(textOf(attempt), /password-of-vault|token-of-|expanded|planted-vault-token/);
    assert.doesNotMatch(agent.log(), /password-of-vault|planted-vault-token/);
    assert.deepEqual(setup.server.problems, []);
  },
);

test(
  'a reference that cannot be resolved ends the step of the variables, with its reason',
  withTerraform,
  async (t) => {
    const { setup, vault, settings, job } = await scene(t);
    vault.isSealed = true;
    setup.startAgent(settings);
    const first = job();
    setup.server.enqueue(first);
    const { outcome, logs, events } = await setup.outcomeOf(first);
    assert.equal(outcome?.result, 'failed');
    assert.match(
      outcome?.error?.message ?? '',
      /^Variable "TOKEN" \(scope PROJECT\): \$\{vault:secret\/app.token\} cannot be read: Vault is sealed/,
    );
    assert.match(
      outcome?.error?.message ?? '',
      /Variable "password" \(scope ENVIRONMENT\): the secret that it refers to/,
    );
    assert.match(logs.get('variables:setup')?.toString() ?? '', /Error: Variable "TOKEN"/);
    const ends = events.flatMap((event) =>
      event.kind === 'step' && event.status === 'FAIL' ? [event.step] : [],
    );
    assert.deepEqual(ends, ['variables:setup']);
  },
);

test(
  'an apply in the tree of its plan uses the secret of the plan, and both are masked',
  withTerraform,
  async (t) => {
    const { setup, vault, settings, job } = await scene(t);
    const agent = setup.startAgent(settings);
    const first = job();
    setup.server.enqueue(first);
    const planned = await setup.outcomeOf(first);
    await setup.until(() => setup.spooled().length === 0, 'an empty spool');
    vault.putV2('app', { password: 'changed-password', token: 'changed-token' });
    const apply = setup.applyJob(planned, true);
    setup.server.enqueue(apply);
    const applied = await setup.outcomeOf(apply);
    assert.equal(applied.outcome?.result, 'applied', JSON.stringify(applied.outcome) + agent.log());
    assert.match(applied.states.at(-1)?.bytes.toString() ?? '', /password-of-vault/);
    assert.doesNotMatch(textOf(applied), /password-of-vault|changed-password|changed-token/);
  },
);

test(
  'an apply that has lost the tree of its plan refuses a secret that has changed',
  withTerraform,
  async (t) => {
    const { setup, vault, settings, job } = await scene(t);
    const withoutTrees = { ...settings, ENVARIUM_KEPT_TREES: '0' };
    setup.startAgent(withoutTrees);
    const first = job();
    setup.server.enqueue(first);
    const planned = await setup.outcomeOf(first);
    await setup.until(() => setup.spooled().length === 0, 'an empty spool');
    assert.doesNotMatch(JSON.stringify(planned.outcome?.approvedParts), /vault/);
    const same = setup.applyJob(planned, false);
    vault.putV2('app', { password: 'changed-password', token: 'changed-token' });
    const changed = setup.applyJob(planned, false);
    setup.server.enqueue(changed);
    const refused = await setup.outcomeOf(changed);
    assert.match(
      refused.outcome?.error?.message ?? '',
      /has changed since the plan, and nothing was applied/,
    );
    vault.putV2('app', { password: 'password-of-vault', token: 'changed-token' });
    setup.server.enqueue(same);
    const applied = await setup.outcomeOf(same);
    assert.equal(applied.outcome?.result, 'applied', JSON.stringify(applied.outcome));
    rmSync(join(setup.folder, 'vault-token'));
  },
);
