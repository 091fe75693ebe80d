import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { jobOf, treeFrom } from '../../../testing/driver-job.ts';
import { terraform } from './driver.ts';
import { commonPlan } from './plan.ts';
import { parseTerraformPlan, type TerraformPlan } from './plan-json.ts';

const folder = join(import.meta.dirname, '__fixtures__');
const recorded = async (name: string) => parseTerraformPlan(await readFile(join(folder, name), 'utf8'));
const change = await recorded('change-1.11.4.plan.json');
const rowOf = (plan: TerraformPlan, path: string, refreshed?: TerraformPlan) =>
  commonPlan(plan, refreshed).plan.resourceChanges.find((row) => row.path === path);

describe('the common plan', () => {
  it('names changed attributes only, with unknown and sensitive ones replaced', () => {
    assert.deepEqual(rowOf(change, 'terraform_data.updated')?.attributes, [
      {
        name: 'input',
        before: { password: '(sensitive)', size: 'small', tags: ['small', 'fixed'] },
        after: { password: '(sensitive)', size: 'large', tags: ['large', 'fixed'] },
      },
      {
        name: 'output',
        before: { password: '(sensitive)', size: 'small', tags: ['small', 'fixed'] },
        after: '(known after apply)',
      },
    ]);
  });

  it('tells replacement, move, import and reason', () => {
    const first = rowOf(change, 'terraform_data.made_first');
    assert.deepEqual(
      [first?.action, first?.createBeforeDestroy, first?.actionReason],
      ['recreate', true, 'replace_because_cannot_update'],
    );
    assert.equal(rowOf(change, 'terraform_data.replaced')?.createBeforeDestroy, false);
    assert.deepEqual(
      first?.attributes.filter(({ forcesReplacement }) => forcesReplacement).map(({ name }) => name),
      ['triggers_replace'],
    );
    assert.equal(rowOf(change, 'terraform_data.new')?.previousAddress, 'terraform_data.old');
    assert.deepEqual(rowOf(change, 'terraform_data.adopted')?.importing, { id: 'adopted-id' });
  });

  it('has a kind and a count for each operation on the state', () => {
    const planned = (address: string, actions: string[], more: object = {}) => ({
      address,
      mode: 'managed' as const,
      type: 'a',
      name: address,
      provider_name: 'p',
      change: { actions, before: { id: 'old', size: 1 }, after: { id: 'old', size: 2 }, ...more },
    });
    const invocation = {
      address: 'action.a.notify',
      type: 'a',
      name: 'notify',
      provider_name: 'p',
      lifecycle_action_trigger: { triggering_resource_address: 'a.x', action_trigger_event: 'AfterCreate' },
    };
    const { plan, planSummary, hasChanges } = commonPlan({
      format_version: '1.2',
      terraform_version: '1.14.0',
      resource_changes: [
        planned('a.forgotten', ['forget']),
        planned('a.left', ['create', 'forget']),
        planned('a.abandoned', ['forget', 'create']),
        planned('a.by_identity', ['no-op'], { importing: { identity: { name: 'x' } } }),
        planned('a.marked', ['update'], { after: { id: 'old', size: 1 } }),
        planned('a.new_operation', ['reconcile']),
        { ...planned('a.token', ['create']), mode: 'ephemeral' as const },
      ],
      action_invocations: [invocation],
      deferred_changes: [
        { reason: 'provider_config_unknown', resource_change: planned('a.later', ['create']) },
      ],
      deferred_action_invocations: [{ reason: 'deferred_prereq', action_invocation: invocation }],
    });
    assert.deepEqual(
      plan.resourceChanges.map(({ path, kind, action, actionReason }) => [path, kind, action, actionReason]),
      [
        ['a.forgotten', 'forget', 'metadata', undefined],
        ['a.left', 'forget', 'create', undefined],
        ['a.abandoned', 'forget', 'create', undefined],
        ['a.by_identity', 'import', 'metadata', undefined],
        ['a.marked', 'update', 'metadata', undefined],
        ['a.new_operation', 'unknown', 'metadata', 'planned as reconcile'],
        ['action.a.notify', 'invoke', 'metadata', 'AfterCreate of a.x'],
        ['a.later', 'defer', 'create', 'provider_config_unknown'],
        ['action.a.notify', 'defer', 'metadata', 'deferred_prereq'],
      ],
    );
    assert.deepEqual(planSummary, {
      added: 2,
      changed: 1,
      destroyed: 0,
      imported: 1,
      forgotten: 3,
      invoked: 1,
      unknown: 1,
      deferred: 2,
    });
    assert.equal(hasChanges, true);
    assert.deepEqual(plan.resourceChanges[3]?.importing, { id: '{"name":"x"}' });
  });

  it('is empty where only data sources of checks are read again', () => {
    const read = {
      address: 'data.a.b',
      mode: 'data' as const,
      type: 'a',
      name: 'b',
      provider_name: 'p',
      change: { actions: ['read'] },
      action_reason: 'read_because_check_nested',
    };
    const plan = { format_version: '1.2', terraform_version: '1.11.4', applyable: true };
    assert.equal(commonPlan({ ...plan, resource_changes: [read] }).hasChanges, false);
    assert.equal(commonPlan(plan).hasChanges, true, 'something that no row shows');
  });

  it('tells changes of outputs without sensitive values', async () => {
    assert.deepEqual(commonPlan(change).plan.outputChanges, [
      { name: 'new_output', action: 'create', attributes: [{ name: 'value', after: [1] }] },
      { name: 'old_output', action: 'delete', attributes: [{ name: 'value', before: 'x' }] },
      { name: 'size', action: 'update', attributes: [{ name: 'value', before: 'small', after: 'large' }] },
    ]);
    const { outputChanges } = commonPlan(await recorded('create-1.11.4.plan.json')).plan;
    assert.deepEqual(outputChanges[1], {
      name: 'password',
      action: 'create',
      attributes: [{ name: 'value', after: '(sensitive)' }],
    });
  });

  it('shows no sensitive value anywhere', () => {
    assert.ok(!JSON.stringify(commonPlan(change)).includes('correct horse'));
  });

  it('marks as drift only what it changes, and lists apart what merely settled', async () => {
    const { plan } = commonPlan(
      await recorded('drift-1.11.4.plan.json'),
      await recorded('drift-1.11.4.refresh.json'),
    );
    assert.deepEqual(
      plan.resourceChanges.map((row) => [row.path, row.action, row.driftByCloud ?? false]),
      [
        ['aws_ssm_parameter.changed', 'update', true],
        // Its tags read back as an empty map instead of null, which is not drift.
        ['aws_ssm_parameter.code', 'update', false],
        ['aws_ssm_parameter.deleted', 'create', true],
      ],
    );
    assert.deepEqual(
      plan.settled?.map((row) => [row.path, row.action, row.attributes.map(({ name }) => name)]),
      [['aws_ssm_parameter.described', 'update', ['tags', 'value', 'version']]],
    );
  });

  it('has no changes where attributes settled after an apply', async () => {
    const [planned, refreshed] = [
      await recorded('drift-1.11.4.plan.json'),
      await recorded('drift-1.11.4.refresh.json'),
    ];
    const only = (rows: TerraformPlan['resource_changes']) =>
      (rows ?? []).filter(({ address }) => address === 'aws_ssm_parameter.described');
    const found = commonPlan(
      {
        ...planned,
        applyable: false,
        resource_changes: only(planned.resource_changes),
        resource_drift: only(planned.resource_drift),
      },
      { ...refreshed, resource_drift: only(refreshed.resource_drift) },
    );
    assert.deepEqual(
      [found.hasChanges, found.hasResourceChanges, found.plan.resourceChanges, found.planSummary],
      [false, false, [], { added: 0, changed: 0, destroyed: 0 }],
    );
    assert.equal(found.plan.settled?.length, 1);
  });

  it('of a refresh that only moved something finds no drift in the cloud', async () => {
    const moved = rowOf(
      await recorded('move-only-1.11.4.plan.json'),
      'terraform_data.still_same',
      await recorded('refresh-move-1.11.4.plan.json'),
    );
    assert.equal(moved?.driftByCloud, undefined);
  });

  it('of several thousand resources is read quickly', () => {
    const many = {
      ...change,
      resource_changes: Array.from({ length: 400 }, () => change.resource_changes ?? []).flat(),
    };
    const start = performance.now();
    assert.ok(commonPlan(many).plan.resourceChanges.length > 3000);
    assert.ok(performance.now() - start < 2000);
  });

  it('refuses a format that it does not know', () => {
    assert.throws(() => parseTerraformPlan('{"format_version":"2.0"}'), /format 2\.0/);
  });
});

describe('reading a plan', () => {
  const lock =
    '# comment\n\nprovider "registry.terraform.io/hashicorp/aws" {\n  version     = "5.100.0"\n  constraints = "~> 5.0"\n  hashes = [\n    "h1:x=",\n  ]\n}\n\nprovider "registry.terraform.io/hashicorp/null" {\n  version = "3.2.1"\n}\n';
  const modules = {
    Modules: [
      { Key: '', Source: '', Dir: '.' },
      { Key: 'vpc', Source: 'registry.terraform.io/x/vpc/aws', Version: '5.1.0', Dir: 'a' },
      { Key: 'vpc.sub', Source: 'git::https://u:p@host/x.git?ref=v2&depth=1', Dir: 'b' },
      { Key: 'own', Source: './own', Dir: 'own' },
    ],
  };
  const tree = treeFrom({
    '.terraform.lock.hcl': lock,
    '.terraform/modules/modules.json': JSON.stringify(modules),
  });
  const read = async (secrets: string[], text?: string) => {
    const bytes =
      text === undefined ? await readFile(join(folder, 'change-1.11.4.plan.json')) : Buffer.from(text);
    return terraform.readPlan(
      {
        job: jobOf({ secrets }),
        configurationFolder: '/c',
        stateFolder: null,
        planFile: '/p',
        temporaryFolder: '/t',
        tree,
      },
      new Map([['plan.json', bytes]]),
    );
  };

  it('gives versions of providers and modules', async () => {
    const reading = await read([]);
    assert.deepEqual(reading.providerVersions, {
      'registry.terraform.io/hashicorp/aws': '5.100.0',
      'registry.terraform.io/hashicorp/null': '3.2.1',
      'terraform.io/builtin/terraform': '1.11.4',
    });
    assert.deepEqual(reading.moduleVersions, { vpc: '5.1.0', 'vpc.sub': 'v2' });
  });

  it('masks the values of secrets, and shortens long texts only afterwards', async () => {
    assert.ok(!JSON.stringify((await read(['large'])).plan).includes('large'));
    const secret = `${'a'.repeat(16_380)}the end of a secret`;
    const text = JSON.stringify({
      format_version: '1.2',
      terraform_version: '1.11.4',
      output_changes: { a: { actions: ['create'], before: null, after: `${secret}${'b'.repeat(20_000)}` } },
    });
    const [attribute] = (await read([secret], text)).plan.outputChanges[0]!.attributes;
    assert.match(String(attribute?.after), /^\*\*\*b{16381}… \(20003 characters\)$/);
  });
});
