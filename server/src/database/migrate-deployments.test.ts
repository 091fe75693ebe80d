import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrate } from './migrate.ts';
import { idOf, olderDatabase } from './older-database.ts';

test('an update keeps the commit that a destroy inherited from the last deploy', async () => {
  await using database = await olderDatabase('0009');
  const { pool, db } = database;
  await pool.query(`
    insert into template (id, organization_id, name, type, repository, author_id)
      values ('${idOf(3)}', '${idOf(1)}', 't', 'terraform', 'https://x/net.git', 'ada');
    insert into environment (id, organization_id, project_id, template_id, user_id, name, workspace_name,
      status, resting_status, requires_approval)
      values ('${idOf(4)}', '${idOf(1)}', '${idOf(2)}', '${idOf(3)}', 'ada', 'net', 'w', 'INACTIVE', 'INACTIVE', false);
    insert into deployment (id, environment_id, organization_id, project_id, type, status, started_by, trigger,
      requires_approval, blueprint_id, blueprint_name, blueprint_repository, blueprint_revision, blueprint_path,
      blueprint_type, commit_hash, follows_last_deploy)
      select ('00000000-0000-7000-8000-00000000001' || i)::uuid, '${idOf(4)}', '${idOf(1)}', '${idOf(2)}', type,
        'SUCCESS', 'ada', 'user', false, '${idOf(3)}', 't', 'https://x/net.git', revision, 'live', 'terraform',
        'c0ffee', type = 'destroy'
      from (values (1, 'deploy', 'main'), (2, 'destroy', 'c0ffee')) as given (i, type, revision);`);
  await migrate(db);
  const rows = await db
    .selectFrom('deployment')
    .select([
      'type',
      'template_id',
      'template_name',
      'repository',
      'revision',
      'path',
      'tool',
      'commit_to_run',
    ])
    .orderBy('id')
    .execute();
  const same = {
    template_id: idOf(3),
    template_name: 't',
    repository: 'https://x/net.git',
    path: 'live',
    tool: 'terraform',
  };
  assert.deepEqual(rows, [
    { type: 'deploy', ...same, revision: 'main', commit_to_run: null },
    { type: 'destroy', ...same, revision: 'c0ffee', commit_to_run: 'c0ffee' },
  ]);
});
