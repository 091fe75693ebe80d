/**
 * A chain of new units is one deployment: each level is planned with the outputs of the one before, waits again if it is
 * more than what was approved, and is neither lost nor repeated if processes are killed between two levels.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Deployment } from '#contract/deployments/shapes.ts';
import { pathWith, toolboxProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { toolsOfFamily } from '../family-tools.ts';
import { fileWorldSettings, linesIn, openFolder } from '../journey/file-world.ts';
import { createEnvironment, deployAndEnd, destroyAndEnd, until, untilEnd } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { MortalService } from './mortal-service.ts';
import { runnerPid, sendSignal } from './processes.ts';

const family = await toolsOfFamily();

/** Each unit makes `count` resources, notes each of them in the world, and hands its name on. */
const module = `variable "world" {}
variable "name" {}
variable "count_of" {
  default = 1
}
resource "terraform_data" "it" {
  count = var.count_of
  input = var.name
  provisioner "local-exec" { command = "echo once >> \${var.world}/\${split(" ", var.name)[0]}" }
}
output "name" {
  value = terraform_data.it[0].output
}
output "two" {
  value = 2
}
`;

const unit = (inputs: string, needs = '', mocks = '') => `terraform {
  source = "\${get_repo_root()}//module"
}
${needs === '' ? '' : `dependency "it" {\n  config_path = "../${needs}"\n${mocks}}\n`}inputs = {
  ${inputs}
}
`;

/** Once the first level is applied, any reader of the unit waits for a file of the world. */
const gated = `locals {
  wait = run_cmd("sh", "-c", "cd $TF_VAR_world; test ! -e vpc || { touch waits; until [ -e gate ]; do sleep 0.1; done; }")
}
`;

const on = 'on ${dependency.it.outputs.name}';
const chain = {
  'module/main.tf': module,
  'live/vpc/terragrunt.hcl': unit('name = "vpc"'),
  'live/app/terragrunt.hcl': unit(`name = "app ${on}"`, 'vpc'),
  'live/web/terragrunt.hcl': unit(`name = "web ${on}"`, 'app'),
};
const mocks = (values: string) =>
  `  mock_outputs = ${values}\n  mock_outputs_allowed_terraform_commands = ["init", "plan"]\n`;
const mocked = mocks('{ name = "mock", two = 1 }');

describe('a chain of new units', withToolbox('terragrunt', 'opentofu'), () => {
  const mortal = new MortalService({
    ...fileWorldSettings,
    ENVARIUM_ABORT_SECONDS: '30',
    PATH: pathWith(toolboxProgram('terragrunt'), ...family.map(({ file }) => file || null)),
  });

  async function start(name: string, files: Record<string, string>, requiresApproval: boolean) {
    const world = await openFolder(mortal.folder, name);
    const repository = await makeRepository(mortal.folder, `code-${name}`, files);
    const created = await createEnvironment(mortal.client, mortal.home, {
      name,
      type: 'terragrunt',
      terragruntVersion: '1.1.3',
      terragruntTfBinary: 'opentofu',
      isTerragruntRunAll: true,
      repository: repository.path,
      path: 'live',
      requiresApproval,
      configurationChanges: [{ name: 'world', value: world, type: 1 }],
    });
    return { ...created, world };
  }

  function outputOf({ output }: Deployment, name: string): unknown {
    const units = output as unknown as readonly {
      moduleName: string;
      output: Record<string, { value: unknown }>;
    }[];
    return units.find(({ moduleName }) => moduleName === name)?.output['name']?.value;
  }

  /** @param names of its units, the first of them in the first level */
  async function expectChain(
    deployment: Deployment,
    world: string,
    names: readonly string[] = ['vpc', 'app', 'web'],
  ): Promise<void> {
    assert.equal(outputOf(deployment, names.at(-1) ?? ''), names.toReversed().join(' on '));
    assert.equal(deployment.resourceCount, names.length);
    for (const name of names) assert.equal(await linesIn(world, name), 1, name);
  }

  /** @param level that waits */
  async function waitingAt(id: string, level: number): Promise<Deployment> {
    const found = await until(`level ${level} to wait`, async () => {
      const deployment = await mortal.client.call('getDeployment', { params: { id } });
      const isThere = deployment.status === 'WAITING_FOR_USER' && (deployment.level ?? 1) === level;
      return isThere || deployment.finishedAt !== null ? deployment : null;
    });
    assert.equal(found.status, 'WAITING_FOR_USER', found.error?.message);
    return found;
  }

  async function approve(id: string, level: number): Promise<Deployment> {
    const planned = await waitingAt(id, level);
    await mortal.client.call('approveDeployment', { params: { id }, body: { planHash: planned.planHash } });
    return planned;
  }

  test('is one deployment without mocks, and the next one has nothing to do', async () => {
    const { id, deploymentId, world } = await start('chain', chain, false);
    const ended = await untilEnd(mortal.client, deploymentId);
    await expectChain(ended, world);
    assert.equal(ended.level, 3);
    const again = await deployAndEnd(mortal.client, id);
    assert.deepEqual([again.level, again.planSummary], [undefined, { added: 0, changed: 0, destroyed: 0 }]);
    await destroyAndEnd(mortal.client, id);
  });

  test('needs one approval as far as its mocks show what follows', async () => {
    const { deploymentId, world } = await start(
      'covered',
      { ...chain, 'live/app/terragrunt.hcl': unit(`name = "app ${on}"`, 'vpc', mocked) },
      true,
    );
    const first = await approve(deploymentId, 1);
    assert.match(
      first.waitingFor?.text ?? '',
      /also covers what follows .*: app \(1 × create terraform_data\)/,
    );
    assert.match(first.waitingFor?.text ?? '', /web has no plan yet/);
    // Web had no mocks: app is applied under the first approval, and web waits for another one.
    const second = await approve(deploymentId, 3);
    assert.equal(second.planSummary?.added, 1);
    assert.equal(outputOf(second, 'app'), 'app on vpc');
    await expectChain(await untilEnd(mortal.client, deploymentId), world);
  });

  test('waits again if the real outputs lead to more changes than the mocks', async () => {
    const more = unit(`name = "app ${on}"\n  count_of = dependency.it.outputs.two`, 'vpc', mocked);
    const { deploymentId, world } = await start(
      'beyond',
      {
        'module/main.tf': module,
        'live/vpc/terragrunt.hcl': chain['live/vpc/terragrunt.hcl'],
        'live/app/terragrunt.hcl': more,
      },
      true,
    );
    const first = await approve(deploymentId, 1);
    const app = first.units?.find((each) => each.unit === 'app');
    assert.deepEqual([app?.changes, app?.follows], [{ 'create terraform_data': 1 }, true]);
    assert.equal((await waitingAt(deploymentId, 2)).planSummary?.added, 2);
    assert.deepEqual([await linesIn(world, 'vpc'), await linesIn(world, 'app')], [1, 0]);
    await approve(deploymentId, 2);
    await untilEnd(mortal.client, deploymentId);
    assert.equal(await linesIn(world, 'app'), 2);
  });

  for (const victim of ['agent', 'runner', 'server'] as const)
    test(`continues if the ${victim} is killed while the next level is planned`, async () => {
      const app = `${gated}${unit(`name = "app ${on}"`, 'vpc')}`;
      const { 'live/web/terragrunt.hcl': web, ...others } = chain;
      // The server has to keep the levels that follow, and a runner is replaced; an agent only continues.
      const hasMore = victim !== 'agent';
      const files = {
        ...others,
        'live/app/terragrunt.hcl': app,
        ...(hasMore && { 'live/web/terragrunt.hcl': web }),
      };
      const { id, deploymentId, world } = await start(`killed-${victim}`, files, false);
      await until('the second level', () => existsSync(join(world, 'waits')));
      if (victim === 'runner') sendSignal(await runnerPid(mortal.running, id), 'SIGKILL');
      else await mortal.kill(victim);
      await writeFile(join(world, 'gate'), '');
      const names = hasMore ? ['vpc', 'app', 'web'] : ['vpc', 'app'];
      await expectChain(await untilEnd(mortal.client, deploymentId), world, names);
    });
});
