/**
 * Variables that change what a run does, and configurations that would take its state away: reported at once, and
 * nothing is lost.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toolOf, toolsOfFamily } from '../family-tools.ts';
import {
  createEnvironment,
  deploy,
  deployAndEnd,
  deployNew,
  destroyAndEnd,
  stepLines,
  untilEnd,
} from '../runs.ts';
import { makeRepository } from '../service.ts';
import { joinOneService } from './join-one-service.ts';

const code = `variable "a" { default = "none" }
variable "b" { default = "none" }
resource "terraform_data" "one" { input = "\${var.a} \${var.b}" }
resource "terraform_data" "two" {}
output "said" { value = terraform_data.one.output }
`;

const elsewhere = '{"terraform": {"backend": {"local": {"path": "elsewhere.tfstate"}}}}';

const encrypted = `variable "passphrase" { sensitive = true }
terraform {
  encryption {
    key_provider "pbkdf2" "key" {
      passphrase = var.passphrase
      iterations = 200000
    }
    method "aes_gcm" "sealed" { keys = key_provider.pbkdf2.key }
    state {
      method   = method.aes_gcm.sealed
      enforced = true
    }
    plan {
      method   = method.aes_gcm.sealed
      enforced = true
    }
  }
}
resource "terraform_data" "kept" { input = "in a sealed state" }
output "kept" { value = terraform_data.kept.output }
`;

const environmentVariable = (name: string, value: string) => ({ name, value, type: 0 as const });

const one = await toolOf('variables of runs');
const service = await joinOneService();
const { client } = service;

for (const { type, steps, program, skip } of await toolsOfFamily())
  describe(`variables that change a run of ${type}`, { concurrency: 2, skip }, () => {
    const home = { ...service.home, type };

    const logOf = async (id: string, step: string) =>
      (await stepLines(client, id, step)).map(({ message }) => message).join('\n');

    if (type === 'opentofu')
      test('a state encrypted by the code is stored unchanged, and its outputs and resources are known', async () => {
        const { path: repository } = await makeRepository(service.folder, 'encrypted', {
          'main.tf': encrypted,
        });
        const passphrase = {
          name: 'passphrase',
          value: 'correct horse battery staple',
          type: 1 as const,
          isSensitive: true,
        };
        const { id, deployment } = await deployNew(client, home, {
          repository,
          configurationChanges: [passphrase],
        });
        assert.equal(deployment.output?.kept?.value, 'in a sealed state');
        assert.equal(deployment.resourceCount, 1);
        const content = Buffer.from(
          await client.bytes('getStateContent', { params: { id: deployment.stateVersionId ?? '' } }),
        ).toString();
        assert.match(content, /"encrypted_data"/);
        assert.doesNotMatch(content, /in a sealed state/);
        const again = await deployAndEnd(client, id);
        assert.deepEqual(
          [again.planSummary, again.resourceCount],
          [{ added: 0, changed: 0, destroyed: 0 }, 1],
        );
        const destroyed = await destroyAndEnd(client, id);
        assert.deepEqual(
          destroyed.planSummary,
          { added: 0, changed: 0, destroyed: 1 },
          `${program} was called`,
        );
      });

    test('override files that sort behind ours do not move the state', async () => {
      const { path: repository } = await makeRepository(service.folder, 'overriding', {
        'main.tf': code,
        'zzzz_override.tf': 'terraform {\n  backend "local" {\n    path = "elsewhere.tfstate"\n  }\n}\n',
        'zzzz_envarium_override.tf.json': elsewhere,
        'zzz_envarium_override.tofu.json': elsewhere,
        'zzzzz_override.tofu': 'terraform {\n  backend "local" {\n    path = "elsewhere.tfstate"\n  }\n}\n',
      });
      const { id, deployment } = await deployNew(client, home, { repository });
      assert.ok(deployment.stateVersionId);
      const again = await deployAndEnd(client, id);
      assert.deepEqual(again.planSummary, { added: 0, changed: 0, destroyed: 0 });
    });

    if (type !== one.type) return;

    test('variables add files, arguments and targets to a run', async () => {
      const files = {
        'network/main.tf': code,
        'network/own.tfvars': 'a = "own"\n',
        'common.tfvars': 'a = "common"\n',
      };
      const { path: repository } = await makeRepository(service.folder, 'changed', files);
      const { id, deployment } = await deployNew(client, home, {
        repository,
        path: 'network',
        configurationChanges: [
          environmentVariable('ENVARIUM_TERRAFORM_CONFIG_FILE_PATH', 'own.tfvars,../common.tfvars'),
          environmentVariable('ENVARIUM_CLI_ARGS_PLAN', `-var 'b=two words' -compact-warnings`),
          environmentVariable('ENVARIUM_CLI_ARGS_APPLY', '-parallelism=1'),
          environmentVariable('ENVARIUM_TERRAFORM_TARGET', 'terraform_data.one'),
          environmentVariable('ENVARIUM_TERRAFORM_BACKEND_CONFIG', 'bucket=unused'),
        ],
      });
      assert.equal(deployment.output?.said?.value, 'common two words');
      assert.deepEqual(
        deployment.resources?.map(({ name }) => name),
        ['one'],
      );
      assert.match(
        await logOf(deployment.id ?? '', 'variables:setup'),
        /ENVARIUM_TERRAFORM_BACKEND_CONFIG is not used/,
      );
      const destroyed = await destroyAndEnd(client, id);
      assert.equal(destroyed.resourceCount, 0);
    });

    test('unusable variables are refused by name when they are stored', async () => {
      const { path: repository } = await makeRepository(service.folder, 'refused', { 'main.tf': code });
      for (const [name, value] of [
        ['TF_CLI_ARGS_apply', '-state-out=elsewhere'],
        ['TF_CLI_ARGS_init', '-backend=false'],
        ['TF_CLI_ARGS_plan', "-o'ut'=elsewhere"],
        ['TF_WORKSPACE', 'other'],
        ['TF_DATA_DIR', '/elsewhere'],
        ['TF_STATE_PERSIST_INTERVAL', '1'],
        ['ENVARIUM_CLI_ARGS_PLAN', '-destroy'],
        ['ENVARIUM_CLI_ARGS_APPLY', '-parallelism=1; true'],
        ['ENVARIUM_TERRAFORM_CONFIG_FILE_PATH', '/etc/passwd'],
      ] as const) {
        const body = {
          repository,
          preventAutoDeploy: true,
          configurationChanges: [environmentVariable(name, value)],
        };
        await assert.rejects(
          createEnvironment(client, home, body),
          { status: 400, message: new RegExp(name) },
          name,
        );
      }
    });

    test('a reference that makes a variable unusable is refused before anything runs', async () => {
      const { path: repository } = await makeRepository(service.folder, 'referring', { 'main.tf': code });
      const { id, deploymentId } = await createEnvironment(client, home, {
        repository,
        name: '-state-out=elsewhere',
        configurationChanges: [environmentVariable('TF_CLI_ARGS_apply', '${ENVARIUM_ENVIRONMENT_NAME}')],
      });
      const failed = await untilEnd(client, deploymentId, 'FAILURE');
      assert.match(failed.error?.message ?? '', /^TF_CLI_ARGS_apply: -state-out is not allowed/);
      assert.deepEqual(await client.call('listStateVersions', { params: { id } }), []);
      const body = { configurationChanges: [environmentVariable('TF_CLI_ARGS_apply', '')] };
      const next = await deployAndEnd(client, id, body);
      assert.equal(next.resourceCount, 2);
    });

    test('a run stores no state if a variable requests that', async () => {
      const { path: repository } = await makeRepository(service.folder, 'ignoring', { 'main.tf': code });
      const configurationChanges = [environmentVariable('ENVARIUM_IGNORE_STATE', 'true')];
      const { id, deployment } = await deployNew(client, home, { repository, configurationChanges });
      assert.equal(deployment.resourceCount, 2);
      assert.match(await logOf(deployment.id ?? '', `${steps}:output`), /state|outputs|said/);
      assert.deepEqual(await client.call('listStateVersions', { params: { id } }), []);
      const kept = await deployNew(client, home, { repository });
      const { id: next } = await deploy(client, kept.id, { configurationChanges });
      const refused = await untilEnd(client, next, 'FAILURE');
      assert.match(
        refused.error?.message ?? '',
        /^ENVARIUM_IGNORE_STATE: the service stores a state of this environment/,
      );
    });
  });
