import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TSchema, Type } from 'typebox';
import { operations } from '../operations.ts';
import { warningsOf, withoutEffectOf } from './no-effect.ts';
import type { Operation } from './operation.ts';

type Field = TSchema & { readonly type?: string | readonly string[]; readonly enum?: readonly unknown[] };

const bodies = new Map((Object.values(operations) as Operation[]).map(({ name, body }) => [name, body]));

/** Values that turn an option on, whatever its type is. */
function onValues({ type, enum: choices }: Field): unknown[] {
  if (choices) return choices.filter((choice) => choice !== null);
  const types = [type].flat();
  if (types.includes('boolean')) return [true];
  if (types.includes('integer')) return [1];
  return types.includes('object') ? [{ x: 1 }] : ['x'];
}

/** The fields of a body whose options have no effect, found by turning each on alone. */
function fieldsWithWarnings(name: string): string[] {
  const { properties = {} } = (bodies.get(name) ?? {}) as { properties?: Record<string, Field> };
  return Object.entries(properties)
    .filter(([field, schema]) =>
      onValues(schema).some((value) =>
        warningsOf(bodies.get(name) as TSchema, { [field]: value }).some((each) =>
          each.startsWith(`${field} `),
        ),
      ),
    )
    .map(([field]) => field)
    .toSorted();
}

const ofPushes = ['autoDeployByCustomGlob', 'autoDeployOnPathChangesOnly', 'continuousDeployment'];
const ofPullRequests = ['pullRequestPlanDeployments', 'vcsCommandsAlias', 'vcsPrCommentsEnabled'];
const ofEnvironments = [...ofPushes, 'isRemoteApplyEnabled', ...ofPullRequests].toSorted();
const ofTemplates = ['gitlabProjectId', 'runTestsOnPullRequest', 'tagPrefix'];
const ofModules = ['moduleTestEnabled', 'opentofuVersion', 'runTestsOnPullRequest', 'tagPrefix'];

/** Fields that are only stored. When one gets an effect, remove its line here and in the contract. */
const expected: Readonly<Record<string, readonly string[]>> = {
  createEnvironment: ofEnvironments,
  createEnvironmentWithoutTemplate: [...ofEnvironments, ...ofTemplates].toSorted(),
  updateEnvironment: ofEnvironments,
  createTemplate: ofTemplates,
  updateTemplate: ofTemplates,
  createModule: ofModules,
  updateModule: ofModules,
  deployEnvironment: ['autoDriftRemediationStrategy', 'deploymentType'],
  createVcsConnection: ['accessScope', 'connectionType', 'vcsAgentKey'],
  updateVcsConnection: ['vcsAgentKey'],
  createCredential: ['type'],
  updateCredential: ['type'],
  createAgent: ['logs'],
  setBudget: ['amount'],
  assignCostCredential: ['credentialsId'],
  updateOrganizationPolicies: [
    'allowMergeableBypassForPrApply',
    'allowServiceSecrets',
    'disablePrComments',
    'doNotConsiderMergeCommitsForPrPlans',
    'doNotReportSkippedStatusChecks',
    'enforcePrCommenterPermissions',
    'projectCustomFlowsPolicy',
    'requireApprovalForPrApplies',
  ],
};

for (const [name, fields] of Object.entries(expected))
  test(`${name} warns about every option that is stored only`, () => {
    assert.deepEqual(fieldsWithWarnings(name), fields);
  });

test('sets that are assigned to a module are stored only', () => {
  for (const { name, params } of Object.values(operations) as Operation[]) {
    const isAssigned = name === 'assignConfigurationSets' || name === 'assignConfigurationSet';
    const warnings = params ? warningsOf(params, { scope: 'module', scopeId: 'm', id: 's' }) : [];
    assert.equal(warnings.length, isAssigned ? 1 : 0, name);
    assert.deepEqual(params ? warningsOf(params, { scope: 'project', scopeId: 'p', id: 's' }) : [], [], name);
  }
});

test('modules, providers and their keys are stored only', () => {
  const sentence = /^This is stored but has no effect yet: (modules|providers) are /;
  for (const name of ['createModule', 'updateModule', 'createProvider', 'updateProvider', 'createGpgKey']) {
    const body = bodies.get(name) as TSchema;
    assert.match(warningsOf(body, { description: 'x' })[0] ?? '', sentence, name);
    assert.deepEqual(warningsOf(body, {}), [], name);
  }
});

test('what happens anyway is not warned about', () => {
  const body = bodies.get('createVcsConnection') as TSchema;
  const usual = { vcsAgentKey: 'SOME_DEFAULT', accessScope: 'organization', connectionType: 'self-hosted' };
  assert.deepEqual(warningsOf(body, usual), []);
});

test('a sentence and a description are about one value or several', () => {
  const describe = (values: string[]) =>
    (withoutEffectOf(Type.String(), values, 'nothing runs') as { description?: string }).description;
  assert.equal(describe(['a']), 'a is stored, but has no effect yet: nothing runs');
  assert.equal(describe(['a', 'b']), 'a and b are stored, but have no effect yet: nothing runs');
});

test('facts of a run that a request contains are ignored, by name', () => {
  const custom = { deploymentType: 'task', deployerName: 'x', projectName: 'y' };
  const body = { customServiceEnvironmentVariables: custom };
  assert.deepEqual(warningsOf(bodies.get('deployEnvironment') as TSchema, body), [
    'deploymentType is ignored: it is a fact of the run.',
    'deployerName is ignored: it is a fact of the run.',
  ]);
});

test('a list of which nothing has an effect is one warning, and none where it is empty', () => {
  const body = bodies.get('assignCustomFlows') as TSchema;
  const one = { scope: 'PROJECT', scopeId: 'p', blueprintId: 'b' };
  assert.deepEqual(warningsOf(body, [one, one]), [
    'This is stored but has no effect yet: custom flows do not run.',
  ]);
  assert.deepEqual(warningsOf(body, []), []);
  assert.deepEqual(warningsOf(bodies.get('unassignCustomFlows') as TSchema, [one]), []);
});
