/**
 * Every operation with every caller: each built-in role, a custom role for each single right, keys that were
 * deleted, have expired or come from a foreign network, and no credentials; check-right.test.ts has a key of another
 * organization. What is expected follows from the one table.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OperationName, operations } from '#contract/operations.ts';
import { builtInRoles, type RoleScope } from '#contract/schema/built-in-roles.ts';
import { type Right, rights } from '#contract/schema/enumerations.ts';
import type { Operation } from '#contract/schema/operation.ts';
import { alternativesOf, makeSamples, subjectsOf } from '../../../testing/samples.ts';
import { startAgentTests } from '../../../testing/start.ts';
import { families } from '../../families.ts';
import type { FindHome } from '../../rows/entity-home.ts';
import type { Place } from '../../rows/places.ts';
import type { Actor } from './actor.ts';
import { checkRight, MissingRight } from './check-right.ts';
import { loadAccess } from './load-access.ts';

const { app, organizationId, projectId, call, ok, sql, createActive } = await startAgentTests();
const environment = await createActive();
const { ids, requestOf } = await makeSamples(app, environment);
const homes = new Map(
  families.flatMap(({ entities = {} }) =>
    Object.entries(entities).map(([entity, find]) => [entity, lookedUpOnce(find)] as const),
  ),
);

/** Nothing in this file moves the samples. */
function lookedUpOnce(find: FindHome): FindHome {
  const known = new Map<string, ReturnType<FindHome>>();
  return (db, id) => {
    const place = known.get(id) ?? find(db, id);
    known.set(id, place);
    return place;
  };
}

type Caller = Awaited<ReturnType<typeof app.addKey>>;

interface Row {
  readonly name: string;
  readonly caller: Caller;
  readonly actor: Actor;
  /** Scope of the role's assignment: all that it reaches. */
  readonly scope: RoleScope;
  readonly held: readonly Right[];
}

const assignment = (scope: RoleScope, role: string | readonly Right[]) =>
  scope === 'project'
    ? { organizationId, projectId, role }
    : { organizationId, environmentId: environment.id, role };

async function rowOf(
  scope: RoleScope,
  role: string | readonly Right[],
  held: readonly Right[],
): Promise<Row> {
  const caller =
    scope === 'organization'
      ? await app.addKey({ [organizationId]: role })
      : await app.addKey({ [organizationId]: [] }, [assignment(scope, role)]);
  const access = await loadAccess(app.context.db, caller.id);
  const actor = { userId: caller.id, name: '', email: '', keyId: null, sessionId: null, access };
  return { name: `${scope} ${typeof role === 'string' ? role : role.join()}`, caller, actor, scope, held };
}

const rows: Row[] = [];
for (const [scope, roles] of Object.entries(builtInRoles) as [RoleScope, Record<string, readonly Right[]>][])
  for (const [role, held] of Object.entries(roles)) rows.push(await rowOf(scope, role, held));
const builtInCount = rows.length;
for (const right of rights)
  for (const scope of ['organization', 'project', 'environment'] as const)
    rows.push(await rowOf(scope, [right], [right]));

const all: readonly (Operation & { name: OperationName })[] = Object.values(operations as object);
const guarded = all.filter(({ needs }) => needs !== 'signed-in' && needs !== 'nothing');

/** The place of the sample that a request of the operation is about. */
async function placeOf(operation: Operation, alternative: number): Promise<Place> {
  const request = requestOf(operation, alternative) as Record<string, Record<string, unknown>>;
  for (const { entity, in: part, field } of subjectsOf(operation)) {
    const id = request[part]?.[field];
    if (typeof id === 'string' && id !== '') {
      const place = await homes.get(entity)?.(app.context.db, id);
      assert.ok(place, `${operation.name}: the samples have no ${entity}`);
      return place;
    }
  }
  throw new Error(`${operation.name} has no subject: a right is always about something`);
}

function isExpected({ scope, held }: Row, { needs, needsAnywhere }: Operation, place: Place): boolean {
  if (!held.includes(needs as Right)) return false;
  if (needsAnywhere || scope === 'organization') return true;
  return scope === 'project' ? place.projectId === projectId : place.environmentId === environment.id;
}

test('every operation that is about something needs a right, and the samples have one of each', () => {
  assert.ok(guarded.length > 60);
  for (const operation of guarded) {
    assert.ok(rights.includes(operation.needs as Right), operation.name);
    for (const { entity } of subjectsOf(operation)) assert.ok(ids[entity], `${operation.name}: ${entity}`);
  }
});

/** Each form of a request, with the right that it needs. */
const forms = guarded.flatMap((operation) =>
  alternativesOf(operation).map((subjects, alternative) => ({
    operation,
    alternative,
    needs: subjects[0]?.needs ?? operation.needs,
    named: subjects.length === 1 ? ` with ${subjects[0]?.field}` : '',
  })),
);

/**
 * Whether a caller's request is sent, too: each built-in role sends all requests, and each custom role some, since
 * the answer to all is made of the decision that the test compares for every caller.
 */
function isSent(form: number, row: number): boolean {
  return row < builtInCount || (form + row) % 10 === 0;
}

for (const [form, { operation, alternative, needs, named }] of forms.entries()) {
  test(`${operation.name}${named}: exactly the callers with ${needs} are admitted`, async () => {
    const place = await placeOf(operation, alternative);
    const request = requestOf(operation, alternative);
    const parts = { params: request.params, query: request.query, body: request.body };
    for (const [index, row] of rows.entries()) {
      const isAllowed = isExpected(row, { ...operation, needs }, place);
      const why = `${row.name} ${isAllowed ? 'has' : 'does not have'} ${needs}`;
      const message = new RegExp(`needs the right (\\w+ or )*${needs}\\b`);
      const decision = checkRight({ ...app.context, homes }, row.actor, operation, parts);
      // Not sent: it would change the samples.
      if (isAllowed) {
        await assert.doesNotReject(decision, why);
        continue;
      }
      const { needsInstead } = operation;
      if (needsInstead && row.held.includes(needsInstead.right)) {
        await assert.doesNotReject(decision, `${why}: the verb refuses, by what the body says`);
      } else {
        const isRefusal = (error: unknown) => error instanceof MissingRight && message.test(error.message);
        await assert.rejects(decision, isRefusal, why);
        if (!isSent(form, index)) continue;
      }
      const response = await call(operation.name, { ...request, as: row.caller });
      assert.equal(response.statusCode, 403, `${why}: ${response.body}`);
      assert.match(response.body, message, why);
    }
  });
}

const deleted = await app.addKey({ [organizationId]: 'Admin' });
await ok('listProjects', { as: deleted });
await sql('delete from api_key where id = $1', deleted.id);
const expired = await app.addKey({ [organizationId]: 'Admin' });
await sql("update api_key set expires_at = '2020-01-01' where id = $1", expired.id);
const fromElsewhere = await app.addKey({ [organizationId]: 'Admin' });
await sql("update api_key set networks = '{203.0.113.0/24}' where id = $1", fromElsewhere.id);

const unknownKey = { id: 'nobody', secret: 'x' };

for (const operation of all.filter(({ needs }) => needs !== 'nothing')) {
  test(`${operation.name}: callers without valid credentials are refused`, async () => {
    const request = requestOf(operation);
    for (const as of [null, deleted, expired, fromElsewhere, { id: expired.id, secret: '' }, unknownKey]) {
      const response = await call(operation.name, { ...request, as } as never);
      assert.equal(response.statusCode, 401, response.body);
    }
  });
}
