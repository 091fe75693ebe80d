/** Numbers that no JavaScript number holds, in what each tool prints and in what each gets. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ExactNumber, parseExactly } from '#contract/schema/exact-json.ts';
import type { JobVariable } from '#protocol/messages/job.ts';
import { jobOf, treeFrom } from '../../testing/driver-job.ts';
import { maskJson } from '../logs/mask.ts';
import { outputsOf } from './ansible/outputs.ts';
import { requestOf } from './cloudformation/request.ts';
import { configurationFiles } from './pulumi/configuration.ts';
import { readOutputs } from './pulumi/outputs.ts';
import { checkpointFiles, readState } from './pulumi/state.ts';
import { terraform } from './terraform/driver.ts';
import { planOf } from './terraform/family.ts';
import { policyPlan } from './terraform/policy-plan.ts';
import { beyondApproved } from './terraform/retry.ts';
import { readTerraformState } from './terraform/state.ts';
import { inputVariables } from './terragrunt/variables.ts';

const largest = '9223372036854775807';
const before = '9223372036854775806';
const fine = '0.1000000000000000055511151231257827';

const variable = (name: string, value: string): JobVariable => ({
  name,
  value,
  isSensitive: false,
  format: 'JSON',
});

const planText = (after: string) => `{
  "format_version": "1.2", "terraform_version": "1.11.4",
  "resource_changes": [{
    "address": "t.n", "mode": "managed", "type": "t", "name": "n", "provider_name": "p",
    "change": { "actions": ["update"], "before": {"id": ${before}, "of": {"x": [${fine}]}},
      "after": {"id": ${after}, "of": {"x": [1.0]}}, "after_unknown": {}, "before_sensitive": {}, "after_sensitive": {} }
  }],
  "output_changes": {
    "id": { "actions": ["update"], "before": ${before}, "after": ${after}, "after_unknown": false,
      "before_sensitive": false, "after_sensitive": false }
  }
}`;

describe('numbers of terraform', () => {
  it('are in the plan as they were printed, also where something is masked and cut', async () => {
    const { plan } = await terraform.readPlan(
      {
        ...{ job: jobOf({ secrets: ['planted'] }), configurationFolder: '/c', stateFolder: null },
        ...{ planFile: '/p', temporaryFolder: '/t', tree: treeFrom({}) },
      },
      new Map([['plan.json', Buffer.from(planText(largest))]]),
    );
    assert.deepEqual(JSON.stringify(plan.resourceChanges[0]?.attributes).split('},{'), [
      `[{"name":"id","before":${before},"after":${largest}`,
      `"name":"of","before":{"x":[${fine}]},"after":{"x":[1.0]}}]`,
    ]);
    assert.equal(
      JSON.stringify(plan.outputChanges[0]?.attributes),
      `[{"name":"value","before":${before},"after":${largest}}]`,
    );
  });

  it('are in the document that policies get', () => {
    const text = JSON.stringify(policyPlan(planOf(Buffer.from(planText(largest)))));
    assert.ok(text.includes(`"before":{"id":${before},"of":{"x":[${fine}]}}`), text);
  });

  it('make another plan of the same code one that was not approved', () => {
    const [approved, other] = [largest, before].map((after) => planOf(Buffer.from(planText(after))));
    assert.equal(beyondApproved(approved!, approved!), null);
    assert.match(beyondApproved(approved!, other!) ?? '', /with other values/);
  });

  it('make different states different, and are in the outputs', () => {
    const stateOf = (id: string) =>
      readTerraformState(
        Buffer.from(
          `{"version":4,"serial":1,"lineage":"l","outputs":{"id":{"value":${id},"type":"number"}},"resources":[
            {"mode":"managed","type":"t","name":"n","provider":"provider[\\"p\\"]",
             "instances":[{"attributes":{"id":${id}}}]}]}`,
        ),
      );
    assert.notEqual(stateOf(largest).hash, stateOf(before).hash);
    assert.equal(stateOf(largest).hash, stateOf(largest).hash);
    assert.equal(JSON.stringify(stateOf(largest).outputs['id']?.value), largest);
  });
});

describe('numbers of pulumi', () => {
  it('are in outputs, and a secret one is recognized', () => {
    const { outputs } = readOutputs(
      Buffer.from(`{"id":${largest},"secret":${largest}}`),
      Buffer.from(`{"id":${largest},"secret":"[secret]"}`),
    );
    assert.equal(
      JSON.stringify(outputs),
      `{"id":{"value":${largest},"sensitive":false,"type":"number"},"secret":{"value":${largest},"sensitive":true,"type":"number"}}`,
    );
  });

  it('go into the stored state and back into the checkpoint', () => {
    const path = '.pulumi/stacks/p/network-abc123.json';
    const resource = `{"urn":"urn:pulumi:network-abc123::p::t::n","type":"t","inputs":{"id":${largest},"f":${fine}}}`;
    const checkpoint = `{"version":3,"checkpoint":{"stack":"organization/p/network-abc123","latest":{"resources":[${resource}]}}}`;
    const files = checkpointFiles(jobOf(), 'p');
    const stored = files.join(new Map([[path, Buffer.from(checkpoint)]]), null);
    assert.ok(Buffer.from(stored).toString().includes(resource));
    assert.ok(
      Buffer.from(files.split(stored).get(path) ?? [])
        .toString()
        .includes(resource),
    );
    const edited = files.join(new Map([[path, Buffer.from(checkpoint.replace(largest, before))]]), stored);
    assert.notEqual(readState(edited).hash, readState(stored).hash);
  });

  it('reach the configuration of the stack, next to those that the code has', async () => {
    const [, file] = await configurationFiles({
      job: jobOf({
        tool: 'pulumi',
        workspaceName: 's',
        variables: { environment: [], terraform: [variable('id', largest), variable('l', `[${fine}, 1]`)] },
      }),
      ...{ configurationFolder: '/c', stateFolder: null, planFile: '/p', temporaryFolder: '/t' },
      tree: treeFrom({
        'Pulumi.yaml': 'name: p\nruntime: yaml\n',
        'Pulumi.s.yaml': `config:\n  p:own: ${largest}\n`,
      }),
    });
    assert.equal(
      file?.content,
      `config:\n  p:own: ${largest}\n  p:id: ${largest}\n  p:l:\n    - ${fine}\n    - 1\n`,
    );
  });
});

describe('numbers of other tools', () => {
  it('are in the outputs of a playbook', () => {
    const end = `{"event":"stats","hosts":{},"hidden":[],"custom":{"id":${largest},"list":[1.0]}}`;
    const { outputs } = outputsOf(Buffer.from(`${end}\n`));
    assert.equal(
      JSON.stringify(outputs),
      `{"id":{"value":${largest},"sensitive":false,"type":"number"},"list":{"value":[1.0],"sensitive":false,"type":"list"}}`,
    );
  });

  it('reach parameters of a stack and inputs of a unit', async () => {
    const terraform = [variable('Id', largest), variable('Ids', `[${largest}, "a", ${fine}]`)];
    const job = jobOf({ variables: { environment: [], terraform } });
    assert.deepEqual({ ...(await requestOf(job)).parameters }, { Id: largest, Ids: `${largest},a,${fine}` });
    assert.deepEqual(inputVariables(job), { TF_VAR_Id: largest, TF_VAR_Ids: `[${largest},"a",${fine}]` });
  });
});

it('a number whose digits are a secret is masked', () => {
  const value = parseExactly(`{"secret":${largest},"other":[${before}]}`);
  assert.deepEqual(maskJson(value, [largest]), { secret: '***', other: [new ExactNumber(before)] });
});
