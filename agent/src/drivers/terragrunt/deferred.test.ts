import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlanAction, TerraformPlan } from '../terraform/plan-json.ts';
import { deferredUnits, mockedUnits } from './deferred.ts';
import type { TerragruntUnit } from './units.ts';

const unit = (path: string, ...dependencies: string[]): TerragruntUnit => ({
  path,
  dependencies,
  reading: [],
});

/** @param prior outputs that exist @param changes actions of outputs */
function plan(prior: readonly string[], changes: Record<string, PlanAction> = {}): TerraformPlan {
  const outputs = Object.fromEntries(prior.map((name) => [name, { value: 'x' }]));
  return {
    format_version: '1.2',
    terraform_version: '1.11.4',
    prior_state: { values: { outputs } },
    output_changes: Object.fromEntries(
      Object.entries(changes).map(([name, action]) => [name, { actions: [action] }]),
    ),
  };
}

const block = (name: string) => ({ dependency: { [name]: [{ config_path: `../${name}` }] } });
const uses = (name: string, outputs: string) => ({
  ...block(name),
  inputs: { value: `\${dependency.${name}.outputs${outputs}}` },
});

function deferred(vpc: TerraformPlan, outputs: string, mocked: Record<string, string[]> = {}) {
  return Object.fromEntries(
    [
      ...deferredUnits({
        units: [unit('vpc'), unit('app', 'vpc'), unit('web', 'app')],
        plans: new Map([
          ['vpc', vpc],
          ['app', plan(['url'], { url: 'update' })],
          ['web', plan([])],
        ]),
        parsed: new Map([['app/terragrunt.hcl', uses('vpc', outputs)]]),
        mocked: new Map(Object.entries(mocked)),
        unplanned: new Map(),
      }),
    ].map(([path, { reason }]) => [path, reason]),
  );
}

test('what waits only for units that the same apply changes follows it', () => {
  const found = deferredUnits({
    units: [
      unit('vpc'),
      unit('app', 'vpc'),
      unit('web', 'app'),
      unit('far', '../other'),
      unit('end', 'web', 'far'),
    ],
    plans: new Map([
      ['vpc', plan([], { id: 'create' })],
      ['far', plan([], { id: 'create' })],
      ['end', plan([], { id: 'create' })],
    ]),
    parsed: new Map(),
    mocked: new Map([
      ['far', ['../other']],
      ['end', ['web', 'far']],
    ]),
    unplanned: new Map([
      ['app', { of: ['vpc'], names: [] }],
      ['web', { of: [], names: [] }],
    ]),
  });
  const follows = [...found].map(([path, each]) => [path, each.follows]);
  assert.deepEqual(follows, [
    ['far', false],
    ['app', true],
    ['web', true],
    ['end', false],
  ]);
});

test('a unit is applied if the outputs that it uses exist and stay, whatever others do', () => {
  assert.deepEqual(deferred(plan(['id', 'other'], { id: 'no-op', other: 'update' }), '.id'), {});
  assert.deepEqual(deferred(plan(['id', 'other'], { other: 'delete' }), '["id"]'), {});
});

test('a unit waits for outputs that do not exist or that change, and others wait for the unit', () => {
  const web = 'it needs app, which this deployment does not apply';
  assert.deepEqual(deferred(plan([], { id: 'create' }), '.id'), {
    app: 'it was planned with mock outputs of vpc',
    web,
  });
  assert.deepEqual(deferred(plan(['id'], { id: 'update' }), '.id'), {
    app: 'it was planned with outputs of vpc that this deployment changes',
    web,
  });
  assert.deepEqual(deferred(plan(['id', 'more'], { more: 'update' }), ''), {
    app: 'it was planned with outputs of vpc that this deployment changes',
    web,
  });
});

test('outputs that are reached through an index or a loop count too', () => {
  for (const expression of [
    'dependency["vpc"].outputs.id',
    'dependency.vpc["outputs"]["id"]',
    'dependency[local.name].outputs.id',
    '[for each in dependency : each.outputs.id]',
    'values(dependency)[0].outputs.id',
    'dependency . vpc . outputs . id',
    '(dependency\n  .vpc\n  .outputs.id)',
    'dependency.vpc',
    'dependency["vpc"]',
    'lookup(dependency.vpc, "outputs").id',
    '[for each in [dependency.vpc] : each.outputs.id]',
    'dependency.vpc.*.outputs.id',
    'dependency',
    '[dependency][0].vpc.outputs.id',
    'true ? dependency : null',
    'merge({}, dependency)',
  ]) {
    const body = { ...block('vpc'), inputs: { value: `\${${expression}}` } };
    const found = deferredUnits({
      units: [unit('vpc'), unit('app', 'vpc')],
      plans: new Map([
        ['vpc', plan(['id'], { id: 'update' })],
        ['app', plan([])],
      ]),
      parsed: new Map([['app/terragrunt.hcl', body]]),
      mocked: new Map(),
      unplanned: new Map(),
    });
    assert.deepEqual([...found.keys()], ['app'], expression);
  }
});

test('text about dependencies, paths of units and other names use no outputs', () => {
  const inputs = {
    text: 'a dependency of dependency.vpc.outputs.id',
    path: '${dependency.vpc.config_path}',
    local: '${local.dependency.vpc.outputs.id}',
    paths: '${dependencies.paths}',
    dependency: { vpc: 'outputs' },
  };
  const found = deferredUnits({
    units: [unit('vpc'), unit('app', 'vpc')],
    plans: new Map([
      ['vpc', plan(['id'], { id: 'update' })],
      ['app', plan([])],
    ]),
    parsed: new Map([['app/terragrunt.hcl', { ...block('vpc'), inputs }]]),
    mocked: new Map(),
    unplanned: new Map(),
  });
  assert.deepEqual([...found.keys()], []);
});

test('what terragrunt says of mocks counts, also of units that are not in the run', () => {
  assert.deepEqual(
    deferred(plan(['id']), '.id', { app: ['../shared'] })['app'],
    'it was planned with mock outputs of ../shared',
  );
  const line =
    '10:00:00 WARN [app] Config /w/live/shared/terragrunt.hcl is a dependency of /w/live/app/terragrunt.hcl that has no outputs, but mock outputs provided and returning those in dependency output.';
  const units = [unit('app'), unit('db')];
  assert.deepEqual([...mockedUnits(Buffer.from(line), units, '/w/live')], [['app', ['shared']]]);
  assert.deepEqual([...mockedUnits(Buffer.from(line), units, '/elsewhere').keys()], ['app', 'db']);
});
