import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fieldsOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';
import { setsAssignedTo } from './configuration-set-store.ts';

const { app } = await startTests();

async function insertSet(name: string, isDeleted = false): Promise<string> {
  const id = randomUUID();
  const now = new Date();
  await app.context.db
    .insertInto('configuration_set')
    .values({
      id,
      organization_id: app.organizationId,
      name,
      created_by: app.admin.id,
      created_at: now,
      updated_at: now,
      deleted_at: isDeleted ? now : null,
    })
    .execute();
  return id;
}

async function assign(setId: string, scope: 'organization' | 'project' | 'environment', scopeId: string) {
  await app.context.db
    .insertInto('configuration_set_assignment')
    .values({
      set_id: setId,
      scope,
      scope_id: scopeId,
      assigned_by: app.admin.id,
      assigned_at: new Date(),
    })
    .execute();
}

test('sets of scopes are found in the order of their assignment, without deleted ones', async () => {
  const [first, second, deleted] = [
    await insertSet('first'),
    await insertSet('second'),
    await insertSet('deleted', true),
  ];
  const environmentId = randomUUID();
  await assign(second, 'environment', environmentId);
  await assign(first, 'environment', environmentId);
  await assign(deleted, 'environment', environmentId);
  await assign(first, 'organization', app.organizationId);
  await assign(second, 'project', app.projectId);
  const organization = { scope: 'GLOBAL', scopeId: app.organizationId } as const;
  const environment = { scope: 'ENVIRONMENT', scopeId: environmentId } as const;
  const subEnvironment = { scope: 'SUB_ENVIRONMENT_BLUEPRINT', scopeId: `${environmentId}:a` } as const;
  assert.deepEqual(await setsAssignedTo(app.context.db, [organization, environment, subEnvironment]), [
    { setId: second, ...environment },
    { setId: first, ...environment },
    { setId: first, ...organization },
  ]);
  const workflow = { scope: 'WORKFLOW', scopeId: environmentId } as const;
  assert.deepEqual(fieldsOf(await setsAssignedTo(app.context.db, [workflow]), 'setId', 'scope'), [
    [second, 'WORKFLOW'],
    [first, 'WORKFLOW'],
  ]);
  assert.deepEqual(await setsAssignedTo(app.context.db, []), []);
});
