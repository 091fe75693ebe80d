/** Moves do not lift what demands approvals, and neither does the next level of a deployment. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { PlannedUnit } from '#contract/deployments/plan.ts';
import { plannedOutcome } from '../../../../testing/agent.ts';
import { demandTests } from '../../../../testing/demands.ts';
import { settingsOfUnits } from '../../../../testing/environment.ts';
import { says, startPolicyTests } from '../../../../testing/guarded.ts';

const tests = await startPolicyTests();
const { app, agent, needsOpa, organizationId, ok, refused } = tests;
const { deploymentOf, forgetWork, newPolicy, assign } = tests;
beforeEach(() => forgetWork());

const { projectIn, keyIn, deployerIn, adminIn, forbid, fourEyes, idleIn, variableOf } = demandTests({
  app,
  agent,
});

const moverIn = (projectIds: readonly string[], role: string | readonly string[]) =>
  app.addKey(
    { [organizationId]: 'User' },
    projectIds.map((projectId) => ({ organizationId, projectId, role: role as string })),
  );
type Key = Awaited<ReturnType<typeof keyIn>>;
const movers = ['MOVE_ENVIRONMENTS', 'VIEW_ENVIRONMENT'];
const owners = [...movers, 'VIEW_PROJECT', 'RUN_APPLY', 'EDIT_PROJECT_SETTINGS'];
const away = /away from what demands approvals needs the right EDIT_PROJECT_SETTINGS/;

/** Moves an environment as a user without the right to lift demands, in vain; then as one who has it. */
async function moveOnlyWithRight(id: string, projectId: string, without: Key, owner: Key): Promise<void> {
  const move = { id, body: { projectId } };
  await refused('moveEnvironment', 403, away, { ...move, as: without });
  await ok('moveEnvironment', { ...move, as: owner });
}

test('an environment does not move to where an administrator above has lifted the demand', async () => {
  const { projectId: above } = await fourEyes();
  const [source, target] = [await projectIn(above), await projectIn(above)];
  const owner = await keyIn(above, owners);
  await forbid(target, false, owner);
  const { id } = await idleIn(source);
  await moveOnlyWithRight(id, target, await moverIn([source, target], movers), owner);
});

test('nor to where a variable lifts what one above demands', async () => {
  const above = await projectIn();
  const [source, target] = [await projectIn(above), await projectIn(above)];
  const owner = await keyIn(above, owners);
  await ok('saveVariables', { body: variableOf(above, 'true', 'PROJECT') });
  await ok('saveVariables', { body: variableOf(target, 'false', 'PROJECT'), as: owner });
  const { id } = await idleIn(source);
  await moveOnlyWithRight(id, target, await moverIn([source, target], movers), owner);
});

test('the demand of another project does not replace the one that is left', async () => {
  const { projectId: source } = await fourEyes();
  const { projectId: target } = await fourEyes();
  const { id } = await idleIn(source);
  const owner = await moverIn([source, target], owners);
  await moveOnlyWithRight(id, target, await moverIn([source, target], movers), owner);
});

test('an environment moves freely where the demands above it stay', async () => {
  const { projectId: above } = await fourEyes();
  const [source, target] = [await projectIn(above), await projectIn(above)];
  await forbid(source, true);
  await ok('saveVariables', { body: variableOf(above, 'true', 'PROJECT') });
  const { id } = await idleIn(source);
  const as = await moverIn([source, target], movers);
  const up = { id, body: { projectId: above } };
  await ok('moveEnvironment', { ...up, as: await moverIn([above], movers) });
  const { id: other } = await idleIn(target);
  await ok('moveEnvironment', { id: other, body: { projectId: source }, as });
});

test('an environment moves with what its own template demands', async () => {
  const [source, target] = [await projectIn(), await projectIn()];
  const { id, blueprintId } = await idleIn(source);
  const policy = await newPolicy(says('pending', 'a person has to look'));
  await assign(policy.id, 'BLUEPRINT', blueprintId);
  await ok('saveVariables', { body: variableOf(blueprintId, 'true', 'BLUEPRINT') });
  const as = await moverIn([source, target], movers);
  await ok('moveEnvironment', { id, body: { projectId: target }, as });
});

test('a project does not move to where the demand above both places is lifted', async () => {
  const { projectId: above } = await fourEyes();
  const [moved, target] = [await projectIn(above), await projectIn(above)];
  const owner = await adminIn(above);
  await forbid(target, false, owner);
  const move = { id: moved, body: { targetProjectId: target } };
  const as = await moverIn([moved, target], 'Admin');
  await refused('moveProject', 403, away, { ...move, as });
  const { parentProjectId } = await ok('getProject', { id: moved });
  assert.equal(parentProjectId, above, 'nothing has moved');
  await ok('moveProject', { ...move, as: owner });
});

const kind = 'create terraform_data';

test('what a project demands holds for each level of a deployment', needsOpa, async () => {
  await agent.register([], { tools: ['terragrunt'] });
  const projectId = await projectIn();
  const below = await projectIn(projectId);
  const deployer = await deployerIn(below);
  const { id } = await idleIn(below, { ...settingsOfUnits, requiresApproval: true });
  const switchOff = { id, body: { requiresApproval: false }, as: deployer };
  await ok('updateEnvironment', switchOff);
  await forbid(projectId, true);
  const small = 'allow contains "small" if count(input.plan.resource_changes) == 0';
  await assign((await newPolicy(`package envarium\n${small}`)).id, 'PROJECT', projectId);
  await assign((await newPolicy(says('allow'))).id, 'PROJECT', below);
  const started = await ok('deployEnvironment', { id, as: deployer });
  const plan = async (units: PlannedUnit[], changes: object[]) => {
    const job = await agent.claim();
    await agent.putBlob(job, 'plan', 'plan');
    await agent.putBlob(job, 'tree', 'tree');
    await agent.putBlob(job, 'policy-input', JSON.stringify({ plan: { resource_changes: changes } }));
    await agent.finish(job, plannedOutcome({ units }));
    await app.carryOutEffects();
    const { status, waitingFor } = await deploymentOf(started.id);
    return [status, waitingFor?.approval?.decidedBy];
  };
  const units: PlannedUnit[] = [
    { unit: 'vpc', changes: { [kind]: 1 } },
    { unit: 'app', changes: { [kind]: 1 }, reason: 'it needs outputs', follows: true },
  ];
  assert.deepEqual(await plan(units, []), ['IN_PROGRESS', undefined]);
  await agent.apply(await agent.claim(), ['a']);
  const change = { address: 'a.b', change: { actions: ['create'] } };
  assert.deepEqual(await plan([{ unit: 'app', changes: { [kind]: 1 } }], [change]), [
    'WAITING_FOR_USER',
    'project',
  ]);
});
