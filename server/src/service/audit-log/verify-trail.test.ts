import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { type AuditContent, type AuditLink, contentText, linkHash, sha256 } from '#contract/audit/chain.ts';
import { type TestApp, testApp } from '../../../testing/app.ts';
import { call, ok, refused } from '../../../testing/client.ts';
import { fieldOf, fieldsOf } from '../../../testing/fields.ts';
import { storeAudit } from '../../framework/audit/record.ts';
import { linkEntries } from './link-entries.ts';

interface Trail {
  readonly app: TestApp;
  /** Runs SQL as a user who owns the tables and has disabled the triggers. */
  tamper(statement: string, ...parameters: unknown[]): Promise<void>;
  /** Kinds and numbers of what the organization's verification finds. */
  found(): Promise<(string | number | undefined)[][]>;
  foundByOperator(): Promise<string[]>;
  write(count?: number): Promise<void>;
}

/** A trail of the organization whose entries 2 to 6 are ours. */
async function trail(): Promise<Trail> {
  const app = await testApp();
  const { context, organizationId, database } = app;
  const write = async (count = 1) => {
    for (let each = 1; each <= count; each++)
      await storeAudit(context, {
        organizationId,
        action: 'thing.changed',
        entity: 'thing',
        entityId: String(each),
        before: { size: 1.5, name: 'ü' },
        after: { size: each, nested: { b: [null, 1e21], a: true } },
      });
    await linkEntries(context);
  };
  await linkEntries(context);
  await write(5);
  return {
    app,
    write,
    async tamper(statement, ...parameters) {
      const tables = ['audit_event', 'audit_link'];
      for (const table of tables) await database.pool.query(`alter table ${table} disable trigger user`);
      await database.pool.query(statement, parameters);
      for (const table of tables) await database.pool.query(`alter table ${table} enable trigger user`);
    },
    async found() {
      const { findings, isIntact, findingCount } = await ok(app, 'verifyAudit', {
        query: { organizationId },
      });
      assert.equal(isIntact, findings.length === 0);
      assert.equal(findingCount, findings.length);
      return findings.map(({ kind, number }) => (number === undefined ? [kind] : [kind, number]));
    },
    async foundByOperator() {
      const { findings } = await ok(app, 'verifyInstallationAudit');
      return findings.map(
        ({ kind, chain }) => `${kind} ${chain === organizationId ? 'organization' : chain}`,
      );
    },
  };
}

const eventOf = (number: number) =>
  `(select event_number from audit_link where chain <> 'installation' and number = ${number})`;

test('an untouched trail is intact, and names its last entry', async () => {
  const { app, found, foundByOperator } = await trail();
  assert.deepEqual(await found(), []);
  assert.deepEqual(await foundByOperator(), []);
  const { organizationId } = app;
  const { heads, entries } = await ok(app, 'verifyAudit', { query: { organizationId } });
  const { events } = await ok(app, 'listAuditEvents', { query: { organizationId } });
  const [newest] = events;
  assert.equal(entries, events.length);
  assert.deepEqual(heads, [{ chain: organizationId, number: newest?.link.number, hash: newest?.link.hash }]);
});

test('a changed entry is found, whichever part of it was changed', async () => {
  for (const change of [
    "actor_id = 'somebody else'",
    `organization_id = null`,
    "details = '{}'::jsonb || '{\"x\": 1}'",
    "after = '{}'",
    'before = null',
    "at = at + interval '1 second'",
    "address = '192.0.2.1'",
    "key_id = 'k'",
    'id = gen_random_uuid()',
  ]) {
    const { tamper, found, foundByOperator } = await trail();
    await tamper(`update audit_event set ${change} where number = ${eventOf(4)}`);
    const kinds = await found();
    assert.deepEqual(
      kinds.slice(0, 2),
      [
        ['entryChanged', 4],
        ['entryForged', 4],
      ],
      change,
    );
    assert.ok((await foundByOperator()).includes('entryChanged organization'), change);
  }
});

test('a removed entry is found, with its link and without', async () => {
  const one = await trail();
  await one.tamper(`delete from audit_event where number = ${eventOf(4)}`);
  assert.deepEqual(await one.found(), [['entryRemoved', 4]]);
  const other = await trail();
  await other.tamper(`with gone as (delete from audit_link where number in (4, 5) and chain <> 'installation' returning event_number)
    delete from audit_event using gone where number = event_number`);
  assert.deepEqual(await other.found(), [['linkRemoved', 4]]);
  assert.deepEqual(await other.foundByOperator(), ['linkRemoved organization', 'linkRemoved root']);
});

test('an inserted entry is found: with an invented HMAC, with that of another entry, or a number of the past', async () => {
  const { app, tamper, found, write } = await trail();
  const insert = (mac: string) =>
    tamper(
      `insert into audit_event (organization_id, actor_id, action, entity, entity_id, at, mac)
       select '${app.organizationId}', 'somebody', 'thing.changed', 'thing', '1', now(), ${mac}`,
    );
  await insert("'\\x00'");
  await insert(`(select mac from audit_event where number = ${eventOf(5)})`);
  await write();
  const numbers = (await found()).map(([kind, number]) => [kind, number]);
  assert.deepEqual(numbers, [
    ['entryForged', numbers[0]?.[1]],
    ['entryForged', numbers[1]?.[1]],
  ]);
  const past = await trail();
  await past.tamper(
    `insert into audit_event (number, organization_id, actor_id, action, entity, entity_id, at, mac)
     overriding system value values (-1, $1, 'somebody', 'thing.changed', 'thing', '1', now(), '\\x00')`,
    past.app.organizationId,
  );
  await past.write();
  assert.deepEqual(await past.found(), [['entryNotLinked']]);
});

test('a removed end is found by the head, which cannot be adjusted', async () => {
  const { app, tamper, found, write } = await trail();
  const end = `with gone as (delete from audit_link where number > 5 and chain <> 'installation' returning event_number)
    delete from audit_event using gone where number = event_number`;
  await tamper(end);
  assert.deepEqual(await found(), [['endRemoved', 6]]);
  await tamper(
    `update audit_head set number = 5, hash = (select hash from audit_link where chain = $1 and number = 5) where chain = $1`,
    app.organizationId,
  );
  assert.deepEqual(await found(), [['headChanged']]);
  await tamper('delete from audit_head where chain = $1', app.organizationId);
  assert.deepEqual(await found(), [['headChanged']]);
  await write();
  assert.match(app.logged.join(''), /the audit trail was changed from outside/);
  await linkEntries(app.context);
  const { findings } = await ok(app, 'verifyInstallationAudit');
  assert.deepEqual(fieldsOf(findings, 'kind', 'chain'), [
    ['breakRecorded', 'installation'],
    ['linkRemoved', 'root'],
  ]);
});

test('a chain that was computed again after a change does not fit its head', async () => {
  const { app, tamper, found } = await trail();
  const { organizationId: chain } = app;
  await tamper(`update audit_event set actor_id = 'x' where number = ${eventOf(4)}`);
  const { body } = await call(app, 'exportAuditEvents', { query: { organizationId: chain } });
  const lines = body.trim().split('\n');
  let previousHash = '';
  for (const line of lines) {
    const entry = JSON.parse(line) as AuditContent & { link: AuditLink };
    const { number } = entry.link;
    const link = {
      number,
      previousHash: previousHash || entry.link.previousHash,
      contentHash: sha256(contentText(entry)),
    };
    const hash = linkHash(chain, link);
    await tamper(
      'update audit_link set previous_hash = $3, content_hash = $4, hash = $5 where chain = $1 and number = $2',
      chain,
      number,
      ...[link.previousHash, link.contentHash, hash].map((text) => Buffer.from(text, 'hex')),
    );
    previousHash = hash;
  }
  await tamper(`update audit_link set actor_id = 'x' where event_number = ${eventOf(4)}`);
  assert.deepEqual(await found(), [
    ['entryForged', 4],
    ['linkChanged', 6],
  ]);
});

test('a trail that was replaced by an older one as a whole is found by a head that was kept', async () => {
  const { app, tamper, write, found } = await trail();
  const { organizationId, database } = app;
  const { rows } = await database.pool.query('select * from audit_head');
  await write(2);
  const query = { organizationId };
  const [head] = (await ok(app, 'verifyAudit', { query })).heads;
  const kept = head?.hash ?? '';
  assert.deepEqual((await ok(app, 'verifyAudit', { query: { ...query, head: kept } })).findings, []);
  await tamper(`with gone as (delete from audit_link where number > 6 and chain <> 'installation' returning event_number)
    delete from audit_event using gone where number = event_number`);
  for (const old of rows)
    await database.pool.query('update audit_head set number = $2, hash = $3, mac = $4 where chain = $1', [
      old.chain,
      old.number,
      old.hash,
      old.mac,
    ]);
  assert.deepEqual(await found(), [], 'the database alone does not show it');
  const { findings } = await ok(app, 'verifyAudit', { query: { ...query, head: kept } });
  assert.deepEqual(fieldOf(findings, 'kind'), ['headNotFound']);
});

test('an organization whose whole trail was removed is missed by the operator', async () => {
  const { app, tamper, foundByOperator } = await trail();
  await tamper('delete from audit_event where organization_id = $1', app.organizationId);
  await tamper('delete from audit_link where chain = $1', app.organizationId);
  await tamper('delete from audit_head where chain = $1', app.organizationId);
  const kinds = await foundByOperator();
  assert.ok(kinds.includes('endRemoved root') || kinds.includes('linkRemoved root'), kinds.join());
});

test('entries that no one links are found once they are late', async () => {
  const { app, found } = await trail();
  await storeAudit(app.context, {
    organizationId: app.organizationId,
    action: 'late',
    entity: 'thing',
    entityId: '1',
  });
  assert.deepEqual(await found(), []);
  app.advance(61);
  assert.deepEqual(await found(), [['entryNotLinked']]);
});

test('verification requires the right, and that of the installation the operator', async () => {
  const { app } = await trail();
  const { organizationId } = app;
  const member = await app.addKey({ [organizationId]: 'User' });
  const admin = await app.addKey({ [organizationId]: 'Admin' });
  await refused(app, 'verifyAudit', 403, { query: { organizationId }, as: member });
  await refused(app, 'verifyAudit', 400, { query: { organizationId: randomUUID() }, as: admin });
  await refused(app, 'verifyAudit', 400, { query: { organizationId, head: 'xyz' } });
  assert.equal((await ok(app, 'verifyAudit', { query: { organizationId }, as: admin })).isIntact, true);
  for (const name of ['verifyInstallationAudit', 'listInstallationAuditEvents'] as const)
    await refused(app, name, 403, { as: admin });
  assert.equal((await call(app, 'exportInstallationAuditEvents', { as: admin })).statusCode, 403);
});
