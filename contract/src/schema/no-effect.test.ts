import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { operations } from '../operations.ts';
import type { Operation } from '../operation.ts';
import { warningsOf } from './no-effect.ts';

type Field = TSchema & { readonly type?: string | readonly string[]; readonly enum?: readonly unknown[] };

const bodies = new Map((Object.values(operations) as Operation[]).map(({ name, body }) => [name, body]));

/** Values that turn an option on, whatever its type is. */
function onValues({ type, enum: choices }: Field): unknown[] {
  if (choices) return choices.filter((choice) => choice !== null);
  const types = [type].flat();
  if (types.includes('boolean')) return [true];
  return types.includes('object') ? [{ x: 1 }] : ['x'];
}

/** The fields of a body whose options have no effect, found by turning each on alone. */
function fieldsWithWarnings(name: string): string[] {
  const { properties = {} } = (bodies.get(name) ?? {}) as { properties?: Record<string, Field> };
  return Object.entries(properties)
    .filter(([field, schema]) =>
      onValues(schema).some(
        (value) => warningsOf(bodies.get(name) as TSchema, { [field]: value }).length > 0,
      ),
    )
    .map(([field]) => field)
    .toSorted();
}

const ofPushes = ['autoDeployByCustomGlob', 'autoDeployOnPathChangesOnly', 'continuousDeployment'];
const ofPullRequests = ['pullRequestPlanDeployments', 'vcsCommandsAlias', 'vcsPrCommentsEnabled'];
const ofEnvironments = [...ofPushes, 'isRemoteApplyEnabled', ...ofPullRequests].toSorted();
const ofTemplates = ['runTestsOnPullRequest', 'tagPrefix'];
const ofModules = ['moduleTestEnabled', 'runTestsOnPullRequest', 'tagPrefix'];

/** What is stored only. An effect of one takes its line away, here and in the contract. */
const expected: Readonly<Record<string, readonly string[]>> = {
  createEnvironment: ofEnvironments,
  createEnvironmentWithoutTemplate: [...ofEnvironments, ...ofTemplates].toSorted(),
  updateEnvironment: ofEnvironments,
  createTemplate: ofTemplates,
  updateTemplate: ofTemplates,
  createModule: ofModules,
  updateModule: ofModules,
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

test('a list of which nothing has an effect is one warning, and none where it is empty', () => {
  const body = bodies.get('assignCustomFlows') as TSchema;
  const one = { scope: 'PROJECT', scopeId: 'p', blueprintId: 'b' };
  assert.deepEqual(warningsOf(body, [one, one]), [
    'This is stored but has no effect yet: custom flows do not run.',
  ]);
  assert.deepEqual(warningsOf(body, []), []);
  assert.deepEqual(warningsOf(bodies.get('unassignCustomFlows') as TSchema, [one]), []);
});
