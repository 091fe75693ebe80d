/** Approval policies from the command line, against a real service with real plans. */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { CataloguePolicy } from '#contract/approval-policies/catalogue.ts';
import type { ApprovalPolicyEntry } from '#contract/custom-flows/shapes.ts';
import { withToolbox } from '../../tools/toolbox/places.ts';
import { commandLine } from '../command-line.ts';
import { withoutTerraform } from '../programs.ts';
import { makeRepository } from '../service.ts';
import { joinOneService } from './join-one-service.ts';

const service = await joinOneService();

describe('approval policies', () => {
  const { envarium, good, bad, json } = commandLine(() => service);

  test('the catalogue is listed and explained', async () => {
    assert.match(await good`approval-policies list`, /^No approval policies: "approval-policies catalogue"/);
    assert.equal((await json<CataloguePolicy[]>`approval-policies catalogue`).length, 15);
    const text = await good`approval-policies catalogue monthly-cost-estimation`;
    assert.match(text, /maxCostIncrease/);
    assert.match(text, /envarium approval-policies create <name> --catalogue monthly-cost-estimation/);
    assert.match(await bad`approval-policies catalogue nothing`, /The catalogue has no "nothing"/);
  });

  test('a policy is created, changed, assigned to each kind of place, and deleted', async () => {
    await good`approval-policies create costs --catalogue monthly-cost-estimation
      --configuration ${'{"maxCostIncrease":50}'}`;
    await good`templates create web --repository https://git.example.com/web.git`;
    await good`project create shop`;
    assert.match(
      await good`approval-policies assign costs --project shop`,
      /costs checks deployments from now on/,
    );
    await good`approval-policies assign costs --template web`;
    await good`approval-policies assign costs --whole-organization`;
    const file = join(service.folder, 'configuration.json');
    await writeFile(file, '{"maxCostIncrease":70,"onExceed":"deny"}');
    await good`approval-policies update costs --name budget --configuration @${file}`;
    const shown = await json<ApprovalPolicyEntry>`approval-policies show budget`;
    assert.deepEqual(shown.policy.policyConfiguration, { maxCostIncrease: 70, onExceed: 'deny' });
    assert.equal(shown.policy.path, 'monthly-cost-estimation');
    assert.deepEqual(shown.assignments.map(({ scope }) => scope).toSorted(), [
      'BLUEPRINT',
      'ORGANIZATION',
      'PROJECT',
    ]);
    assert.match(await good`approval-policies list`, /budget +.*project shop/);
    await good`approval-policies unassign budget --project shop`;
    await good`approval-policies unassign budget --whole-organization`;
    assert.match(await good`approval-policies show budget`, /^Assigned to: +template web$/m);
    await good`approval-policies delete budget`;
    assert.match(await bad`approval-policies show budget`, /There is no approval-policy "budget"/);
  });

  test('a policy of a repository keeps what a change does not mention', async () => {
    const address = 'https://git.example.com/rules.git';
    const repository = ['--repository', address, '--revision', 'v1', '--path', 'rules'];
    const { stderr } = await envarium`approval-policies create own ${repository}`;
    assert.match(stderr, /The policy cannot be read at the moment: .*git\.example\.com/);
    await good`approval-policies update own --revision v2`;
    const { policy } = await json<ApprovalPolicyEntry>`approval-policies show own`;
    assert.deepEqual([policy.repository, policy.revision, policy.path], [address, 'v2', 'rules']);
    await good`approval-policies update own --catalogue alb-secure-tls`;
    const after = await json<ApprovalPolicyEntry>`approval-policies show own`;
    assert.deepEqual([after.policy.path, after.policy.revision], ['alb-secure-tls', undefined]);
  });

  test('wrong calls name the option', async () => {
    const create = ['approval-policies', 'create', 'x'];
    assert.match(await bad`${create}`, /Specify --catalogue, or --repository/);
    assert.match(await bad`${create} --catalogue a --path b`, /either --catalogue, or --repository/);
    assert.match(await bad`${create} --catalogue nothing`, /--catalogue must be a policy of the catalogue/);
    assert.match(
      await bad`${create} --catalogue monthly-cost-estimation`,
      /--configuration must have required property 'maxCostIncrease'/,
    );
    assert.match(await bad`${create} --catalogue a --configuration []`, /must be a JSON object/);
    assert.match(await bad`approval-policies assign own`, /Specify one of --project, --template and/);
  });

  test('a policy is tried against a real plan, and decides about the next one', {
    skip: withoutTerraform || withToolbox('opa').skip,
  }, async () => {
    const code = 'resource "terraform_data" "it" { input = "x" }\n';
    const repository = await makeRepository(service.folder, 'infra', { 'main.tf': code });
    const of = ['--repository', repository.path, '--type', 'terraform', '--project', 'shop'];
    await good`environment create web ${of} --no-require-approval --wait`;
    const folder = join(service.folder, 'rules');
    await mkdir(folder);
    const write = (word: string) =>
      writeFile(
        join(folder, 'policy.rego'),
        `package envarium\n${word} contains "${word} it" if input.plan\n`,
      );
    const tried = ['policy', 'test', folder, '--environment', 'web'];
    await write('deny');
    const denied = await envarium`${tried}`;
    assert.deepEqual(
      [denied.status, denied.stdout.split('\n').slice(0, 2)],
      [1, ['Decision: deny', '  deny: deny it']],
    );
    await write('allow');
    assert.match(await good`${tried}`, /^Decision: allow$/m);
    await write('pending');
    assert.equal((await envarium`${tried}`).status, 3);
    await good`approval-policies create files --catalogue efs-encryption-required`;
    await good`approval-policies assign files --whole-organization`;
    await good`deploy web --require-approval --wait`;
    assert.match(await good`approval-policies verdicts files`, /web +allow/);
    assert.equal((await envarium`policy test files --environment web`).status, 3);
    await rm(join(folder, 'policy.rego'));
    assert.match(await bad`${tried}`, /has no files that end in \.rego/);
  });
});
