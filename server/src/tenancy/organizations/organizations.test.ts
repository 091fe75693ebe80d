import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../../testing/app.ts';
import { call, ok } from '../../../testing/client.ts';
import { fieldOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';

const { app, refused } = await startTests();

test('an installation has one organization with a project, and the creator of another is its admin', async () => {
  const [first] = await ok(app, 'listOrganizations');
  assert.deepEqual(
    [first?.id, first?.role, first?.maxTtl, first?.isSelfHosted],
    [app.organizationId, 'Admin', null, true],
  );
  const made = await ok(app, 'createOrganization', {
    body: { name: 'Second one', description: 'd', photoUrl: 'https://x/p.png' },
  });
  assert.deepEqual(
    [made.name, made.description, made.photoUrl, made.role, made.createdBy],
    ['Second one', 'd', 'https://x/p.png', 'Admin', 'admin'],
  );
  assert.deepEqual(fieldOf(await ok(app, 'listOrganizations'), 'id'), [made.id, app.organizationId]);
  assert.deepEqual(await ok(app, 'getOrganization', { id: made.id }), made);
  assert.deepEqual(fieldOf(await ok(app, 'listProjects', { query: { organizationId: made.id } }), 'name'), [
    'Default',
  ]);
  for (const name of ['', '-x', 'x'.repeat(51), 'a/b'])
    await refused('createOrganization', 400, /\/body\/name/, { body: { name } });
});

test('policies of an organization are stored as they were sent, each separately', async () => {
  const { id } = await ok(app, 'createOrganization', { body: { name: 'Ruled' } });
  const update = (body: object) => ok(app, 'updateOrganizationPolicies', { id, body });
  const changes: Record<string, unknown>[] = [
    { maxTtl: '2-M' },
    { defaultTtl: '13-h' },
    { doNotReportSkippedStatusChecks: true },
    { doNotConsiderMergeCommitsForPrPlans: true },
    { enableOidc: true },
    { enforcePrCommenterPermissions: true },
    { allowMergeableBypassForPrApply: true },
    { requireApprovalForPrApplies: true },
    { disablePrComments: true },
    { allowServiceSecrets: true },
    { projectCustomFlowsPolicy: 'MERGE_WITH_TEMPLATES' },
    { enableOidc: false },
    { maxTtl: null, defaultTtl: null },
  ];
  for (const change of changes) {
    const { updatedAt: _, ...before } = await ok(app, 'getOrganization', { id });
    const { updatedAt: __, ...after } = await update(change);
    assert.deepEqual(after, { ...before, ...change });
    const listed = (await ok(app, 'listOrganizations')).find((each) => each.id === id);
    assert.deepEqual({ ...listed, updatedAt: undefined }, { ...after, updatedAt: undefined });
  }
  const refusals: [object, RegExp][] = [
    [{ maxTtl: 'inherit' }, /\/body\/maxTtl/],
    [{ maxTtl: '0-h' }, /\/body\/maxTtl/],
    [{ defaultTtl: '3 days' }, /\/body\/defaultTtl/],
    [{ maxTtl: '1-d', defaultTtl: '25-h' }, /\/body\/defaultTtl 25-h is longer than maxTtl 1-d/],
    [{ maxTtl: '999999-M' }, /\/body\/maxTtl 999999-M is too long/],
    [{ defaultTtl: '999999-w' }, /\/body\/defaultTtl 999999-w is too long/],
    [{ unknown: true }, /\/body\/unknown/],
  ];
  for (const [body, message] of refusals)
    await refused('updateOrganizationPolicies', 400, message, { id, body });
});

test('an organization is renamed and described, and what is omitted stays', async () => {
  const { id } = await ok(app, 'createOrganization', { body: { name: 'Before', description: 'kept' } });
  const update = (body: object) => ok(app, 'updateOrganization', { id, body });
  const renamed = await update({ name: 'After' });
  assert.deepEqual([renamed.name, renamed.description], ['After', 'kept']);
  const described = await update({ description: 'changed', photoUrl: 'https://example.com/a.png' });
  assert.deepEqual(
    [described.name, described.description, described.photoUrl],
    ['After', 'changed', 'https://example.com/a.png'],
  );
  assert.deepEqual(await ok(app, 'getOrganization', { id }), described);
  for (const name of ['-a', 'ä', 'x'.repeat(51)])
    await refused('updateOrganization', 400, /\/body\/name/, { id, body: { name } });
});

test('a setting says who may create organizations', async () => {
  const outcomes = async (creators: string) => {
    const limited = await testApp({ ENVARIUM_ORGANIZATION_CREATORS: creators });
    const admin = await limited.addKey({ [limited.organizationId]: 'Admin' });
    const member = await limited.addKey({ [limited.organizationId]: 'User' });
    const callers = { operator: undefined, admin, member, outsider: await limited.addKey() };
    const create = async ([name, as]: [string, typeof admin | undefined]) => {
      const caller = as ? { as } : {};
      const { mayCreateOrganizations } = await ok(limited, 'getCurrentUser', caller);
      const reply = await call(limited, 'createOrganization', { body: { name }, ...caller });
      assert.equal(mayCreateOrganizations, reply.statusCode === 200, `${creators}: ${name}`);
      if (reply.statusCode !== 200) {
        assert.equal(reply.statusCode, 403);
        assert.match(reply.body, /ENVARIUM_ORGANIZATION_CREATORS/);
      }
      return reply.statusCode === 200 ? [name] : [];
    };
    return (await Promise.all(Object.entries(callers).map(create))).flat();
  };
  assert.deepEqual(await outcomes('everyone'), ['operator', 'admin', 'member', 'outsider']);
  assert.deepEqual(await outcomes('admins'), ['operator', 'admin']);
  assert.deepEqual(await outcomes('operator'), ['operator']);
});
