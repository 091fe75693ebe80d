import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testApp } from '../../testing/app.ts';
import { inTransaction } from '../ground/database/transaction.ts';
import { actorWithoutRights } from './access/actor.ts';
import type { Context } from './context.ts';
import { type Reactions, reactWith } from './reactions.ts';

const { context } = await testApp();
const by = { actor: actorWithoutRights('admin'), requestId: 'r' };

function recording(calls: string[], name: string): Reactions<Context> {
  return {
    projectsArchived: [
      async ({ db }, { projectIds }) => {
        calls.push(`${name} ${projectIds.join()} ${db.isTransaction}`);
      },
    ],
  };
}

test('reactions run in the order of the families, in the transaction that they react to', async () => {
  const calls: string[] = [];
  const react = reactWith([recording(calls, 'lower'), {}, recording(calls, 'upper')]);
  await inTransaction({ ...context, react }, (context) =>
    context.react('projectsArchived', { projectIds: ['p'], by }),
  );
  assert.deepEqual(calls, ['lower p true', 'upper p true']);
});

test('a reaction that throws rolls back the transaction', async () => {
  const failing: Reactions<Context> = {
    projectsArchived: [() => Promise.reject(new Error('the reaction failed'))],
  };
  const work = inTransaction({ ...context, react: reactWith([failing]) }, async (context) => {
    await context.db
      .insertInto('app_user')
      .values({ id: 'lost', name: 'lost', email: 'lost@localhost' })
      .execute();
    await context.react('projectsArchived', { projectIds: [], by });
  });
  await assert.rejects(work, /the reaction failed/);
  const rows = await context.db.selectFrom('app_user').select('id').where('id', '=', 'lost').execute();
  assert.deepEqual(rows, []);
});

test('a reaction outside of a transaction is refused', async () => {
  await assert.rejects(context.react('projectsArchived', { projectIds: [], by }), /outside of a transaction/);
});
