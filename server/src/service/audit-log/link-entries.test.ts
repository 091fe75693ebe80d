import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';
import { storeAudit } from '../../framework/audit/record.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { linkEntries } from './link-entries.ts';

const { app } = await startTests();
const { context, organizationId, database } = app;
const entry = (action: string, organization: string | null = organizationId) => ({
  organizationId: organization,
  action,
  entity: 'thing',
  entityId: '1',
});

async function linked(): Promise<string[]> {
  const { rows } = await database.pool.query<{ action: string }>(
    'select action from audit_link order by position',
  );
  return rows.map(({ action }) => action);
}

test('entries are linked in the order in which their transactions committed, each once', async () => {
  await linkEntries(context);
  const before = (await linked()).length;
  const proceed = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow = inTransaction(context, async (context) => {
    await storeAudit(context, entry('slow'));
    begun.resolve();
    await proceed.promise;
  });
  await begun.promise;
  await storeAudit(context, entry('fast'));
  await assert.rejects(
    inTransaction(context, async (context) => {
      await storeAudit(context, entry('rolled back'));
      throw new Error('undone');
    }),
    /undone/,
  );
  await linkEntries(context);
  await storeAudit(context, entry('faster'));
  await Promise.all([linkEntries(context), linkEntries(context), linkEntries(context, true)]);
  proceed.resolve();
  await slow;
  await linkEntries(context);
  assert.deepEqual((await linked()).slice(before), ['fast', 'faster', 'slow']);
});

test('many writers and several servers that link leave chains without gaps and without doubles', async () => {
  let isDone = false;
  const linking = Array.from({ length: 3 }, async () => {
    while (!isDone) await linkEntries(context);
  });
  await Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let each = 0; each < 25; each++)
        await inTransaction(context, (context) =>
          storeAudit(context, entry('written', writer % 2 === 0 ? organizationId : null)),
        );
    }),
  );
  isDone = true;
  await Promise.all(linking);
  await linkEntries(context, true);
  const { rows } = await database.pool.query<{ chain: string; isWhole: boolean }>(
    `select chain, array_agg(number order by number) = array_agg(place order by number) as "isWhole" from (
       select chain, number, row_number() over (partition by chain order by number) as place from audit_link) l
     group by chain order by chain`,
  );
  assert.deepEqual(fieldOf(rows, 'isWhole'), [true, true]);
  const counts = await database.pool.query(
    'select (select count(*) from audit_event) = (select count(*) from audit_link) as same',
  );
  assert.deepEqual(counts.rows, [{ same: true }]);
});

test('a head that was changed or removed is recorded in the trail, and linking continues', async () => {
  await linkEntries(context);
  for (const statement of [
    `update audit_head set number = number - 1 where chain = 'root'`,
    `delete from audit_head where chain = 'root'`,
  ]) {
    await database.pool.query(statement);
    const before = (await linked()).length;
    await storeAudit(context, entry('afterwards'));
    await linkEntries(context);
    await linkEntries(context);
    assert.deepEqual((await linked()).slice(before).toSorted(), ['afterwards', 'audit.broken'], statement);
  }
  assert.match(app.logged.join(''), /the audit trail was changed from outside/);
});

test('a root that is older than what the server has seen is recorded', async () => {
  await linkEntries(context);
  const { rows } = await database.pool.query("select * from audit_head where chain = 'root'");
  await storeAudit(context, entry('new'));
  await linkEntries(context);
  await database.pool.query('alter table audit_link disable trigger user');
  await database.pool.query('delete from audit_link where position > $1', [rows[0].number]);
  await database.pool.query("update audit_head set number = $1, hash = $2, mac = $3 where chain = 'root'", [
    rows[0].number,
    rows[0].hash,
    rows[0].mac,
  ]);
  await database.pool.query('alter table audit_link enable trigger user');
  await linkEntries(context);
  await linkEntries(context);
  const { rows: found } = await database.pool.query(
    "select details->>'reason' as reason from audit_event where action = 'audit.broken' order by number desc limit 1",
  );
  assert.deepEqual(found, [{ reason: 'the trail was replaced by an older one' }]);
});

test('a commit that fails is not taken for a trail that was replaced', async () => {
  await linkEntries(context, true);
  const before = (await linked()).length;
  await storeAudit(context, entry('linked later'));
  await database.pool.query(`create function fail_commit() returns trigger language plpgsql as
    $$ begin raise exception 'no commit'; end $$`);
  await database.pool.query(`create constraint trigger fail_commit after insert on audit_link
    deferrable initially deferred for each row execute function fail_commit()`);
  await assert.rejects(linkEntries(context, true), /no commit/);
  await database.pool.query('drop function fail_commit cascade');
  await linkEntries(context, true);
  await linkEntries(context, true);
  assert.deepEqual((await linked()).slice(before), ['linked later']);
});

test('a copy of an entry is not linked, and is logged', async () => {
  await storeAudit(context, entry('copied'));
  await linkEntries(context);
  const before = (await linked()).length;
  await database.pool.query(
    `insert into audit_event (id, at, organization_id, actor_id, action, entity, entity_id, details, mac)
     select id, at, organization_id, actor_id, action, entity, entity_id, details, mac
     from audit_event where action = 'copied'`,
  );
  await linkEntries(context);
  await linkEntries(context);
  assert.equal((await linked()).length, before);
  assert.match(app.logged.join(''), /an entry of the audit trail is there twice/);
});
