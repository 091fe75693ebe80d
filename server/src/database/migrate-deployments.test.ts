import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { migrate } from './migrate.ts';
import { testDatabase } from './testing.ts';

const id = (end: number) => `00000000-0000-7000-8000-00000000000${end}`;

test('an update keeps the commit that a destroy inherited from the last deploy', async (t) => {
  await using database = await testDatabase();
  const { pool, db } = database;
  const all = join(import.meta.dirname, 'migrations');
  const older = mkdtempSync(join(tmpdir(), 'envarium-migrations-'));
  t.after(() => rmSync(older, { recursive: true }));
  for (const name of readdirSync(all).filter((each) => each < '0009'))
    copyFileSync(join(all, name), join(older, name));
  await pool.query('drop schema public cascade; create schema public');
  await migrate(db, older);
  await pool.query(`
    insert into app_user (id, email, name) values ('ada', '', 'Ada');
    insert into organization (id, name, created_by) values ('${id(1)}', 'o', 'ada');
    insert into project (id, organization_id, name, hierarchy, created_by)
      values ('${id(2)}', '${id(1)}', 'p', '${id(2)}', 'ada');
    insert into template (id, organization_id, name, type, repository, author_id)
      values ('${id(3)}', '${id(1)}', 't', 'terraform', 'https://x/net.git', 'ada');
    insert into environment (id, organization_id, project_id, template_id, user_id, name, workspace_name,
      status, resting_status, requires_approval)
      values ('${id(4)}', '${id(1)}', '${id(2)}', '${id(3)}', 'ada', 'net', 'w', 'INACTIVE', 'INACTIVE', false);
    insert into deployment (id, environment_id, organization_id, project_id, type, status, started_by, trigger,
      requires_approval, blueprint_id, blueprint_name, blueprint_repository, blueprint_revision, blueprint_path,
      blueprint_type, commit_hash, follows_last_deploy)
      select ('00000000-0000-7000-8000-00000000001' || i)::uuid, '${id(4)}', '${id(1)}', '${id(2)}', type,
        'SUCCESS', 'ada', 'user', false, '${id(3)}', 't', 'https://x/net.git', revision, 'live', 'terraform',
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
    template_id: id(3),
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
