import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { startTests } from '../../../testing/start.ts';
import { forgetOrganizationEvents, keptDays } from '../../runs/feeds/organization-events.ts';
import { listOrganizationEvents } from './event-store.ts';

const { app } = await startTests();

test('events of an organization are read by transaction and number, however many digits these have', async () => {
  const { organizationId } = app;
  const { db } = app.context;
  const places = [9, 10, 100].flatMap((transaction) =>
    [9, 10, 11, 100].map((number) => [transaction, number]),
  );
  for (const [transaction, number] of places.toReversed())
    await sql`insert into organization_event (organization_id, transaction, number, name, data)
      overriding system value
      values (${organizationId}, ${String(transaction)}::text::xid8, ${number}, 'changed', '{}')`.execute(db);

  const read: number[][] = [];
  let after = { transaction: 0n, number: -1n };
  for (;;) {
    const page = await listOrganizationEvents(db, organizationId, after, 5);
    const old = page.filter(({ transaction }) => Number(transaction) <= 100);
    read.push(...old.map(({ transaction, number }) => [Number(transaction), Number(number)]));
    const last = old.at(-1);
    if (!last || old.length < page.length) break;
    after = { transaction: BigInt(last.transaction), number: BigInt(last.number) };
  }
  assert.deepEqual(read, places);
});

test('however many events are too old, one pass removes them all', async () => {
  const { organizationId } = app;
  const { db } = app.context;
  const add = (count: number, days: number) =>
    sql`insert into organization_event (organization_id, name, data, at)
      select ${organizationId}, 'changed', '{}', now() - make_interval(days => ${days})
      from generate_series(1, ${count}::integer)`.execute(db);
  await db.deleteFrom('organization_event').execute();
  await add(25_000, keptDays + 1);
  await add(3, keptDays - 1);
  await forgetOrganizationEvents(app.context);
  const { rows } = await sql`select count(*)::integer as count from organization_event`.execute(db);
  assert.deepEqual(rows, [{ count: 3 }]);
});
