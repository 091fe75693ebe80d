/** Outputs of one environment as inputs of another, and the files with the variables of a run. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commandLine } from '../command-line.ts';
import { toolOf } from '../family-tools.ts';
import {
  approveAndEnd,
  createEnvironment,
  deploy,
  deployNew,
  destroy,
  destroyAndEnd,
  stepLines,
  untilEnd,
  untilStatus,
} from '../runs.ts';
import { makeRepository } from '../service.ts';
import { joinOneService } from './join-one-service.ts';

const network = `output "vpc_id" { value = "vpc-1" }
output "subnets" { value = [{ id = "a", size = 24 }, { id = "b", size = 28 }] }
output "password" {
  value     = "planted-password"
  sensitive = true
}
`;

const app = `variable "vpc_id" { type = string }
variable "subnets" { type = list(object({ id = string, size = number })) }
variable "password" { type = string }
locals {
  own    = jsondecode(file("envarium.env-vars.json"))
  system = jsondecode(file("envarium.system-env-vars.json"))
}
resource "terraform_data" "app" {
  input = "\${var.vpc_id} \${var.subnets[1].size} \${local.own.SUBNETS} \${local.system.ENVARIUM_ENVIRONMENT_NAME}"
}
resource "terraform_data" "files" {
  input = filesha256("envarium.system-env-vars.json")
  lifecycle { ignore_changes = [input] }
}
resource "terraform_data" "secret" { input = var.password }
output "said" { value = terraform_data.app.output }
output "hidden" {
  value     = terraform_data.secret.output
  sensitive = true
}
`;

const largest = '9223372036854775807';

const numbers = `output "id" { value = ${largest} }
output "ids" { value = [12345678901234567890, 0.1000000000000000055511151231257827] }
`;

const takers = `variable "id" { type = number }
variable "ids" { type = list(number) }
resource "terraform_data" "id" { input = { text = tostring(var.id), number = var.id, all = var.ids } }
output "said" { value = "\${terraform_data.id.output.text} \${jsonencode(var.ids)}" }
output "id" { value = terraform_data.id.output.number }
output "hidden" {
  value     = terraform_data.id.output.number
  sensitive = true
}
`;

const input = (name: string, environmentId: string, outputName: string, type: 0 | 1 = 1) => ({
  name,
  type,
  value: JSON.stringify({ environmentId, outputName }),
  schema: { format: 'ENVIRONMENT_OUTPUT' as const },
});

const { type, skip } = await toolOf('outputs as inputs');
const service = await joinOneService();
const { client } = service;
const home = { ...service.home, type };
const { good } = commandLine(() => service);
await client.call('updatePolicy', { body: { projectId: home.projectId, outputsAsInputsEnabled: true } });

describe(`outputs as inputs of ${type}`, { skip }, () => {
  test('a run uses the outputs of another environment, and secrets among them stay hidden', async () => {
    const sourceCode = await makeRepository(service.folder, 'network', { 'main.tf': network });
    const source = await deployNew(client, home, { name: 'network', repository: sourceCode.path });
    const { path: repository } = await makeRepository(service.folder, 'app', { 'main.tf': app });
    const created = await createEnvironment(client, home, {
      name: 'app',
      repository,
      requiresApproval: true,
      configurationChanges: [
        input('vpc_id', source.id, 'vpc_id'),
        input('subnets', source.id, 'subnets'),
        input('password', source.id, 'password'),
        input('SUBNETS', source.id, 'subnets', 0),
      ],
    });
    const deployment = await approveAndEnd(client, created.deploymentId);
    assert.equal(deployment.output?.said?.value, 'vpc-1 28 [{"id":"a","size":24},{"id":"b","size":28}] app');
    assert.notEqual(deployment.output?.hidden?.value, 'planted-password');
    const steps = await client.call('listSteps', { params: { deploymentLogId: created.deploymentId } });
    const logs = await Promise.all(steps.map(({ name }) => stepLines(client, created.deploymentId, name)));
    assert.doesNotMatch(JSON.stringify([deployment, logs]), /planted-password/);

    const body = { configurationChanges: [input('vpc_id', source.id, 'vpc')] };
    const { id } = await deploy(client, created.id, body);
    const failed = await untilEnd(client, id, 'FAILURE');
    const expected = 'Variable "vpc_id" of environment "app" refers to output "vpc" of environment "network"';
    assert.ok(failed.error?.message.startsWith(expected), failed.error?.message);
    const [line] = await stepLines(client, id, 'variables:setup');
    assert.ok(line?.message.startsWith(`Error: ${expected}`));

    await destroyAndEnd(client, source.id);
    const destroyed = await destroy(client, created.id);
    assert.equal((await approveAndEnd(client, destroyed.id)).resourceCount, 0);
  });

  test('numbers keep all of their digits, from one environment to the other and to the terminal', async () => {
    const sourceCode = await makeRepository(service.folder, 'numbers', { 'main.tf': numbers });
    const source = await deployNew(client, home, { name: 'numbers', repository: sourceCode.path });
    const { path: repository } = await makeRepository(service.folder, 'takers', { 'main.tf': takers });
    const created = await createEnvironment(client, home, {
      name: 'takers',
      repository,
      requiresApproval: true,
      configurationChanges: [input('id', source.id, 'id'), input('ids', source.id, 'ids')],
    });
    const planned = await untilStatus(client, created.deploymentId, 'WAITING_FOR_USER');
    const [change] = planned.plan?.resourceChanges ?? [];
    assert.ok(JSON.stringify(change?.attributes).includes(`"number":${largest}`));
    const { output } = await approveAndEnd(client, created.deploymentId);
    assert.equal(
      output?.said?.value,
      `${largest} [12345678901234567890,0.1000000000000000055511151231257827]`,
    );
    assert.equal(JSON.stringify(output?.id?.value), largest);
    const whole = new RegExp(`(^|\\D)${largest}(\\D|$)`);
    const { id } = created;
    const printed = (...args: string[]) => good`outputs --environment ${id} ${args}`;
    assert.match(await printed(), whole);
    assert.match(await printed('--json'), whole);
    assert.equal(await printed('--name', 'id'), `${largest}\n`);
    const hidden = await printed('--name', 'hidden', '--show-sensitive');
    assert.equal(hidden, `${largest}\n`);
  });
});
