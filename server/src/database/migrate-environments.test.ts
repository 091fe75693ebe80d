import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { migrate } from './migrate.ts';
import { idOf, olderDatabase } from './older-database.ts';
import { testDatabase } from './testing.ts';

test('a migration keeps the schedules, expiry dates and searchable texts of older versions', async () => {
  await using database = await olderDatabase('0003');
  const { pool, db } = database;
  await pool.query(`
    insert into template (id, organization_id, name, type, repository, author_id)
      values ('${idOf(3)}', '${idOf(1)}', 't', 'terraform', 'https://x/Acme/net.git', 'ada');
    insert into environment (id, organization_id, project_id, template_id, user_id, name, workspace_name,
      status, resting_status, requires_approval, lifespan_end_at, drift_detection)
      select ('00000000-0000-7000-8000-00000000001' || i)::uuid, '${idOf(1)}', '${idOf(2)}',
        '${idOf(3)}', 'ada', 'Net ' || i, 'w' || i, 'ACTIVE', 'ACTIVE', false,
        case i when 1 then now() + interval '1 day' when 2 then now() - interval '1 day' end,
        case i when 1 then '{"enabled": true, "cron": "0 * * * *"}'::jsonb when 2 then '{"enabled": true}'::jsonb end
      from generate_series(1, 3) i;`);
  await migrate(db);
  const { rows: environments } = await pool.query(
    "select name, search_text, next_ttl_at = lifespan_end_at - interval '2 days' as is_noticed, tags from environment order by name",
  );
  assert.deepEqual(
    environments.map(({ name, is_noticed, tags }) => [name, is_noticed, tags]),
    [
      ['Net 1', true, []],
      ['Net 2', null, []],
      ['Net 3', null, []],
    ],
  );
  assert.equal(environments[0].search_text, `net 1\nw1\n${idOf(11)}\nhttps://x/acme/net.git`);
  const { rows: schedules } = await pool.query(
    'select environment_id, action, cron, is_enabled, next_run_at from schedule',
  );
  const expected = {
    environment_id: idOf(11),
    action: 'driftDetection',
    cron: '0 * * * *',
    is_enabled: true,
    next_run_at: null,
  };
  assert.deepEqual(schedules, [expected]);
});

test('a migration counts the environments of each project, archived ones separately', async () => {
  await using database = await olderDatabase('0017');
  const { pool, db } = database;
  await pool.query(`
    insert into template (id, organization_id, name, type, repository, author_id)
      values ('${idOf(3)}', '${idOf(1)}', 't', 'terraform', 'https://x/Acme/net.git', 'ada');
    insert into environment (id, organization_id, project_id, template_id, user_id, name, workspace_name,
      status, resting_status, requires_approval, is_archived, workflow_environment_id)
      select ('00000000-0000-7000-8000-00000000001' || i)::uuid, '${idOf(1)}', '${idOf(2)}', '${idOf(3)}', 'ada',
        'Net ' || i, 'w' || i, 'ACTIVE', 'ACTIVE', false, i = 1, case i when 5 then '${idOf(11)}'::uuid end
      from generate_series(1, 5) i;`);
  await migrate(db);
  const counts = async () => {
    const { rows } = await pool.query<{ project_id: string; is_archived: boolean; environments: number }>(
      'select project_id, is_archived, environments from environment_count order by is_archived',
    );
    return rows.map((row) => [row.project_id, row.is_archived, row.environments]);
  };
  const archived = [idOf(2), true, 1];
  assert.deepEqual(await counts(), [[idOf(2), false, 3], archived]);
  await pool.query(`delete from environment where id = '${idOf(12)}'`);
  assert.deepEqual(await counts(), [[idOf(2), false, 2], archived]);
});

test('search works without the index where the database owner cannot install extensions', async () => {
  await using database = await testDatabase();
  const { pool } = database;
  await pool.query('drop schema public cascade; drop extension if exists pg_trgm; create schema public');
  const role = `limited_${process.pid}`;
  await pool.query(`create role ${role}; grant all on schema public to ${role}`);
  try {
    const client = await pool.connect();
    try {
      await client.query(`set role ${role}`);
      for (const name of readdirSync(join(import.meta.dirname, 'migrations'))
        .filter((each) => each.endsWith('.sql'))
        .sort())
        await client.query(readFileSync(join(import.meta.dirname, 'migrations', name), 'utf8'));
      const { rows } = await client.query("select from pg_indexes where indexname = 'environment_by_part'");
      assert.equal(rows.length, 0);
      const found = await client.query(
        "select from environment where search_text like '%' || lower('X') || '%'",
      );
      assert.deepEqual(found.rows, []);
    } finally {
      await client.query('reset role');
      client.release();
    }
  } finally {
    await pool.query(`drop owned by ${role}; drop role ${role}`);
  }
});
