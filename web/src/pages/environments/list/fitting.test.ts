import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Environment } from '#contract/environments/shapes.ts';
import { bulkActions, whyUnfit } from './fitting.ts';

function environment(more: object = {}, run: object = {}): Environment {
  return {
    status: 'ACTIVE',
    isLocked: false,
    isArchived: false,
    latestDeploymentLog: { status: 'SUCCESS', ...run },
    ...more,
  } as unknown as Environment;
}

const all = () => true;

/** The actions that leave an environment out, with their reason. */
function reasons(of: Environment) {
  const pairs = bulkActions.map((action) => [action, whyUnfit(action, of, all)] as const);
  return Object.fromEntries(pairs.filter(([, why]) => why !== undefined));
}

test('an active environment fits everything but what it has or lacks already', () => {
  assert.deepEqual(reasons(environment()), {
    approve: 'Nothing waits for approval.',
    unlock: 'It is not locked.',
  });
});

test('a locked environment accepts no deployment of any kind', () => {
  const why = reasons(environment({ isLocked: true }));
  assert.deepEqual(why, {
    deploy: 'It is locked.',
    approve: 'Nothing waits for approval.',
    checkDrift: 'It is locked.',
    lock: 'It is locked already.',
    destroy: 'It is locked.',
  });
});

test('an archived environment accepts a deployment, which restores it', () => {
  const why = reasons(environment({ isArchived: true, status: 'INACTIVE' }));
  assert.equal(why.deploy, undefined);
  assert.equal(why.destroy, 'It is archived.');
  assert.equal(why.archive, 'It is archived already.');
});

test('what has nothing deployed has nothing to destroy and no drift', () => {
  const why = reasons(environment({ status: 'NEVER_DEPLOYED' }, { status: 'NEVER_DEPLOYED' }));
  assert.equal(why.destroy, 'It has nothing deployed.');
  assert.equal(why.checkDrift, 'It has nothing deployed.');
  assert.equal(why.deploy, undefined);
});

test('while a deployment runs an environment is not archived', () => {
  const why = reasons(environment({ status: 'DEPLOY_IN_PROGRESS' }, { status: 'IN_PROGRESS' }));
  assert.equal(why.archive, 'A deployment is running.');
});

test('a right that is missing is named, one that is not known yet is not held against anybody', () => {
  assert.equal(
    whyUnfit('lock', environment(), () => false),
    'You need the right MANAGE_ENVIRONMENT_LOCK on it.',
  );
  assert.equal(
    whyUnfit('lock', environment(), () => undefined),
    undefined,
  );
  assert.match(
    whyUnfit('archive', environment(), (right) => right !== 'EDIT_ENVIRONMENT_SETTINGS') ?? '',
    /EDIT_/,
  );
});
