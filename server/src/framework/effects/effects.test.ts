import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { fieldOf } from '../../../testing/fields.ts';
import { startTests } from '../../../testing/start.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { Events } from '../events/events.ts';
import { carryOutDue, startEffects } from './carry-out.ts';
import { type EffectKind, promiseEffect } from './effect-kind.ts';

const { app, sql } = await startTests();
beforeEach(async () => {
  await sql('delete from effect');
  app.logged.length = 0;
});

type Deed = EffectKind<{ readonly n: number }>;

const deed = (carryOut: Deed['carryOut']): Deed => ({ name: 'test.deed', carryOut });
const never = deed(() => assert.fail('is not carried out here'));
const promise = (n: number, dueAt?: Date) =>
  inTransaction(app.context, (context) => promiseEffect(context, never, { n }, dueAt));
const rows = async () =>
  (await sql('select attempts, last_error, failed_at from effect order by due_at')) as {
    attempts: number;
    last_error: string | null;
    failed_at: Date | null;
  }[];

/** @returns a deed that notes what it is called with, and waits until it has been called `count` times */
function noting(count: number) {
  const done: number[] = [];
  const all = Promise.withResolvers<void>();
  const kind = deed(async (_context, { n }) => {
    done.push(n);
    if (done.length >= count) all.resolve();
  });
  return { done, kind, all: all.promise };
}

test('an effect is carried out after the commit, and never where the transaction is rolled back', async () => {
  const { done, kind, all } = noting(1);
  await using _ = startEffects(app.context, [kind]);
  const failing = inTransaction(app.context, async (context) => {
    await promiseEffect(context, kind, { n: 1 });
    throw new Error('refused');
  });
  await assert.rejects(failing, /refused/);
  await promise(2);
  await all;
  assert.deepEqual(done, [2]);
});

test('an effect outside of a transaction is refused', async () => {
  await assert.rejects(promiseEffect(app.context, never, { n: 1 }), /outside of a transaction/);
});

test('an effect waits for its time, and can postpone itself', async () => {
  const { done, kind } = noting(1);
  await promise(1, new Date(app.context.now().getTime() + 60_000));
  await carryOutDue(app.context, [kind]);
  assert.equal(done.length, 0);
  app.advance(61);
  const later = deed(async (context, { n }) => {
    done.push(n);
    return new Date(context.now().getTime() + 60_000);
  });
  await carryOutDue(app.context, [later]);
  assert.deepEqual([done, (await rows()).length], [[1], 1]);
  app.advance(61);
  await carryOutDue(app.context, [kind]);
  assert.deepEqual([done, await rows()], [[1, 1], []]);
});

test('another server takes over the work of a killed one', async () => {
  const source = (file: string) => pathToFileURL(join(import.meta.dirname, '..', '..', file)).href;
  const program = `
    import { connect } from '${source('ground/database/open.ts')}';
    import { Events } from '${source('framework/events/events.ts')}';
    import { startEffects } from '${source('framework/effects/carry-out.ts')}';
    const address = ${JSON.stringify(app.database.address)};
    const context = { db: connect(address).db, events: await Events.open(address), log: console, now: () => new Date() };
    setInterval(() => {}, 1000);
    const carryOut = () => new Promise(() => process.stdout.write('begun'));
    startEffects(context, [{ name: 'test.deed', carryOut }]);`;
  // The other process does not share the clock that these tests advance.
  await promise(7, new Date(0));
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await carryOutDue(app.context, [never]);
  assert.equal((await rows()).length, 1, 'the row belongs to the other server while that works');
  child.kill('SIGKILL');
  await once(child, 'close');
  const { done, kind, all } = noting(1);
  await using _ = startEffects(app.context, [kind]);
  await all;
  assert.deepEqual(done, [7]);
});

test('two servers share the effects, and each is carried out once', async () => {
  await using events = await Events.open(app.database.address);
  const done: string[] = [];
  const both = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  const server = (name: string) =>
    deed(async (_context, { n }) => {
      done.push(`${name} ${n}`);
      if (new Set(done.map((each) => each.split(' ')[0])).size === 2) both.resolve();
      if (done.length === 20) all.resolve();
      // Neither finishes before the other has started.
      await both.promise;
    });
  await using _one = startEffects(app.context, [server('one')]);
  await using _other = startEffects({ ...app.context, events }, [server('other')]);
  for (let n = 0; n < 20; n++) await promise(n);
  await all.promise;
  assert.equal(new Set(done.map((each) => each.split(' ')[1])).size, 20);
});

test('what other servers have is skipped, however much it is', async () => {
  for (let n = 0; n < 40; n++) await promise(n);
  const { done, kind } = noting(1);
  const other = await app.database.pool.connect();
  await other.query(`select pg_advisory_lock(hashtextextended('effect ' || id, 0))
    from effect where payload ->> 'n' <> '39'`);
  await carryOutDue(app.context, [kind]);
  assert.deepEqual(done, [39]);
  other.release(true);
});

test('a failure is recorded, and the effect is retried after growing pauses', async () => {
  await promise(1);
  const failing = deed(() => Promise.reject(new Error('the other system does not answer')));
  await carryOutDue(app.context, [failing]);
  await carryOutDue(app.context, [never]);
  assert.deepEqual(await rows(), [
    { attempts: 1, last_error: 'the other system does not answer', failed_at: null },
  ]);
  app.advance(6);
  const { done, kind } = noting(1);
  await carryOutDue(app.context, [kind]);
  assert.deepEqual([done, await rows()], [[1], []]);
});

test('an effect that fails too often is kept for a person and no longer retried', async () => {
  await promise(1);
  let calls = 0;
  const failing = deed(() => Promise.reject(new Error(`failure ${++calls}`)));
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 12 + 2; attempt++) {
    const before = app.context.now().getTime();
    await carryOutDue(app.context, [failing]);
    const [effect] = await sql<{ due_at: Date }>('select due_at from effect');
    // Pauses are multiples of five seconds; the rest is the time that the failure took.
    if (attempt < 12) pauses.push(Math.floor(((effect?.due_at.getTime() ?? 0) - before) / 5000) * 5);
    app.advance(3601);
  }
  assert.deepEqual(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
  const [row] = await rows();
  assert.deepEqual(
    [calls, row?.attempts, row?.last_error, row?.failed_at !== null],
    [12, 12, 'failure 12', true],
  );
  const errors = app.logged
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .filter(({ level }) => level === 50);
  assert.deepEqual(fieldOf(errors, 'msg'), ['effect failed and will not be retried']);
});

test('an effect of a kind that this version does not know waits for a server that knows it', async () => {
  await promise(1);
  const other: EffectKind<unknown> = { name: 'test.other', carryOut: () => assert.fail('is another one') };
  await carryOutDue(app.context, [other]);
  assert.deepEqual(await rows(), [{ attempts: 0, last_error: null, failed_at: null }]);
});

test('a server that stops leaves what is in progress as it is', async () => {
  const begun = Promise.withResolvers<void>();
  const hanging = deed(() => {
    begun.resolve();
    return new Promise(() => undefined);
  });
  const running = startEffects(app.context, [hanging]);
  await promise(1);
  await begun.promise;
  await running[Symbol.asyncDispose]();
  assert.deepEqual(await rows(), [{ attempts: 0, last_error: null, failed_at: null }]);
});

test('work that is slow holds up nothing else', async () => {
  const begun = Promise.withResolvers<void>();
  const slow: Deed = {
    name: 'test.slow',
    isSlow: true,
    carryOut: () => {
      begun.resolve();
      return new Promise(() => undefined);
    },
  };
  const { kind, all } = noting(1);
  await using _ = startEffects(app.context, [slow, kind]);
  await inTransaction(app.context, async (context) => {
    for (let n = 0; n < 20; n += 1) await promiseEffect(context, slow, { n });
  });
  await begun.promise;
  await promise(1);
  await all;
});

test('a failure whose message cannot be stored counts like any other', async () => {
  await promise(1);
  const failing = deed(() => Promise.reject(new Error('half \ud83d and \0')));
  await carryOutDue(app.context, [failing]);
  const [row] = await rows();
  assert.equal(row?.attempts, 1);
  assert.equal(row.last_error, 'half \ufffd and \ufffd');
});
