/**
 * Runs of several units of which a process is killed half-way: what was created is known, and the next deployment
 * continues with the rest.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathWith, toolboxProgram, withToolbox } from '../../tools/toolbox/places.ts';
import { toolsOfFamily } from '../family-tools.ts';
import { fileWorldSettings, linesIn, openFolder } from '../journey/file-world.ts';
import { withoutTerraform } from '../programs.ts';
import { createEnvironment, deployAndEnd, destroyAndEnd, until, untilEnd, untilStatus } from '../runs.ts';
import { makeRepository } from '../service.ts';
import { MortalService } from './mortal-service.ts';
import { commandPid, runnerPid, sendSignal } from './processes.ts';

const family = await toolsOfFamily();
const needs = { skip: withToolbox('terragrunt', 'opentofu').skip || withoutTerraform };

const variables = 'variable "world" {}\n';
const made = `${variables}resource "terraform_data" "made" {
  provisioner "local-exec" { command = "echo once >> \${var.world}/$NAME" }
}
`;

/** `first` is done, and `slow` has made something, when the rest waits. */
const units = {
  'first/terragrunt.hcl': '',
  'first/main.tf': made.replace('$NAME', 'first'),
  'slow/terragrunt.hcl': 'dependencies {\n  paths = ["../first"]\n}\n',
  'slow/main.tf': `${made.replace('$NAME', 'slow')}resource "terraform_data" "waits" {
  depends_on = [terraform_data.made]
  provisioner "local-exec" { command = "touch \${var.world}/waits; until [ -e \${var.world}/gate ]; do sleep 0.1; done" }
}
`,
  'last/terragrunt.hcl': 'dependencies {\n  paths = ["../slow"]\n}\n',
  'last/main.tf': made.replace('$NAME', 'last'),
};

describe('a run of several units, killed half-way,', needs, () => {
  const mortal = new MortalService({
    ...fileWorldSettings,
    ENVARIUM_ABORT_SECONDS: '30',
    PATH: pathWith(toolboxProgram('terragrunt'), ...family.map(({ file }) => file || null)),
  });

  async function waitingRun(name: string, binary: 'terraform' | 'opentofu') {
    const world = await openFolder(mortal.folder, name);
    const repository = await makeRepository(mortal.folder, `code-${name}`, units);
    const created = await createEnvironment(mortal.client, mortal.home, {
      name,
      type: 'terragrunt',
      terragruntVersion: '1.1.3',
      terragruntTfBinary: binary,
      isTerragruntRunAll: true,
      repository: repository.path,
      configurationChanges: [{ name: 'world', value: world, type: 1 }],
    });
    await until('the unit that waits', () => existsSync(join(world, 'waits')));
    return { ...created, world };
  }

  /** The next deployment makes what is missing, and nothing twice. */
  async function continued(id: string, world: string): Promise<void> {
    await writeFile(join(world, 'gate'), '');
    const ended = await deployAndEnd(mortal.client, id);
    assert.equal(ended.resourceCount, 4);
    for (const name of ['first', 'slow', 'last']) assert.equal(await linesIn(world, name), 1, name);
  }

  for (const binary of ['terraform', 'opentofu'] as const)
    test(`${binary}: the runner is killed; its units end cleanly, and the next deployment continues`, async () => {
      const { id, deploymentId, world } = await waitingRun(`runner-${binary}`, binary);
      sendSignal(await runnerPid(mortal.running, id), 'SIGKILL');
      const ended = await untilStatus(mortal.client, deploymentId);
      assert.match(ended.status, /FAILURE$/, ended.error?.message);
      const [newest] = await mortal.client.call('listStateVersions', { params: { id } });
      assert.equal(newest?.deploymentLogId, deploymentId);
      await continued(id, world);
      await destroyAndEnd(mortal.client, id);
    });

  test('terraform: terragrunt is killed; the deployment fails, and the next one continues', async () => {
    const { id, deploymentId, world } = await waitingRun('tool', 'terraform');
    sendSignal(await commandPid(mortal.running, id, /terragrunt run/), 'SIGKILL');
    const ended = await untilStatus(mortal.client, deploymentId);
    assert.match(ended.status, /FAILURE$/, ended.error?.message);
    await continued(id, world);
  });

  for (const victim of ['agent', 'server'] as const)
    test(`opentofu: the ${victim} is killed; the deployment continues, and succeeds`, async () => {
      const { id, deploymentId, world } = await waitingRun(victim, 'opentofu');
      await mortal.kill(victim);
      await writeFile(join(world, 'gate'), '');
      await untilEnd(mortal.client, deploymentId);
      await continued(id, world);
    });
});
