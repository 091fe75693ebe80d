/**
 * The whole app on a database and a data folder of its own, without agent and loops: what the tests of the
 * families talk to.
 */

import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import type { Right } from '#contract/schema/enumerations.ts';
import { families } from '../src/families.ts';
import type { Context } from '../src/framework/context.ts';
import { carryOutDue } from '../src/framework/effects/carry-out.ts';
import { Events } from '../src/framework/events/events.ts';
import { buildApp } from '../src/framework/http/app.ts';
import { closeApp } from '../src/framework/http/connections/stop.ts';
import { reactWith } from '../src/framework/reactions.ts';
import { createFolderBlobStore } from '../src/ground/blobs/blob-store.ts';
import { readSettings } from '../src/ground/config/config.ts';
import type { Database } from '../src/ground/database/open.ts';
import { openLimits } from '../src/ground/limits/open-limits.ts';
import { newKeySecret } from '../src/ground/secrets/api-key-hash.ts';
import { isUuid } from '../src/rows/entity-home.ts';
import { bootstrap, type FirstKey } from '../src/start/bootstrap.ts';
import { prepareSealing } from '../src/start/prepare-sealing.ts';
import { disposeAtEnd, testDatabase } from './database.ts';

export interface TestApp {
  readonly app: FastifyInstance;
  readonly context: Context;
  readonly database: Database;
  /** Everything that the service keeps outside of the database. */
  readonly folder: string;
  /** The first admin key. */
  readonly admin: FirstKey;
  readonly organizationId: string;
  readonly projectId: string;
  /** Log at ENVARIUM_LOG_LEVEL (default: warn) and above, as JSON lines. */
  readonly logged: string[];
  /** Moves the service's clock on. */
  advance(seconds: number): void;
  /** A key of a user of its own. @param roles role by organization id */
  /**
   * A key that is a user of its own.
   * @param roles by organization: the name of a role, or the rights of a custom one
   * @param assigned roles in projects and environments, in the same way
   */
  addKey(roles?: TestRoles, assigned?: readonly TestAssignment[]): Promise<FirstKey>;
  /** Carries out the effects that are due, as the service does in the background. */
  carryOutEffects(): Promise<void>;
  /** Aborted by a test, it ends what only waits, as when a server stops. */
  readonly stopping: AbortController;
  /** Starts to listen. @returns the address */
  listen(): Promise<string>;
}

type TestRole = string | readonly Right[];
export type TestRoles = Readonly<Record<string, TestRole>>;
/** A role in a project or an environment. */
export interface TestAssignment {
  readonly organizationId: string;
  readonly projectId?: string;
  readonly environmentId?: string;
  readonly role: TestRole;
}

/** @returns the name of the role, or the id of a custom one that was made */
async function roleOf({ db, newId }: Context, organizationId: string, role: TestRole): Promise<string> {
  if (typeof role === 'string') return role;
  const id = newId();
  await db
    .insertInto('role')
    .values({ id, organization_id: organizationId, name: id, permissions: [...role], created_by: 'test' })
    .execute();
  return id;
}

async function addKey(
  context: Context,
  roles: TestRoles,
  assigned: readonly TestAssignment[],
): Promise<FirstKey> {
  const key = { id: `key-${randomBytes(6).toString('hex')}`, secret: newKeySecret() };
  await context.db
    .insertInto('app_user')
    .values({ id: key.id, name: key.id, email: `${key.id}@localhost` })
    .execute();
  await context.db
    .insertInto('api_key')
    .values({ id: key.id, name: key.id, user_id: key.id, secret_hmac: context.keyHash.hash(key.secret) })
    .execute();
  for (const [organization_id, nameOrId] of Object.entries(roles)) {
    const role = await roleOf(context, organization_id, nameOrId);
    await context.db
      .insertInto('organization_member')
      .values({ organization_id, user_id: key.id, role })
      .execute();
  }
  for (const { organizationId, projectId, environmentId, role: nameOrId } of assigned) {
    const role = await roleOf(context, organizationId, nameOrId);
    await context.db
      .insertInto('role_assignment')
      .values({
        id: context.newId(),
        organization_id: organizationId,
        user_id: key.id,
        project_id: projectId ?? null,
        environment_id: environmentId ?? null,
        role,
        role_id: isUuid(role) ? role : null,
        created_by: 'test',
      })
      .execute();
  }
  return key;
}

/**
 * Open until the tests of the process are over.
 * @param environment settings in addition to those of the tests
 */
export async function testApp(environment: Readonly<Record<string, string>> = {}): Promise<TestApp> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'envarium-app-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const settings = readSettings({
    ENVARIUM_DATA_DIR: folder,
    ENVARIUM_GIT_LOCAL_PATHS: '/srv/repositories',
    ENVARIUM_RATE_LIMIT: '0',
    ENVARIUM_AGENT_RATE_LIMIT: '0',
    ENVARIUM_STREAM_RATE_LIMIT: '0',
    ENVARIUM_STATE_RATE_LIMIT: '0',
    ENVARIUM_FAILURE_LIMIT: '0',
    ...environment,
  });
  const logged: string[] = [];
  const level = environment['ENVARIUM_LOG_LEVEL'] ?? 'warn';
  const log = pino({ level }, { write: (line: string) => void logged.push(line) });
  const database = stack.use(await testDatabase());
  const sealing = await prepareSealing(database.db, settings, randomUUIDv7);
  const events = stack.use(await Events.open(database.address, log));
  let ahead = 0;
  const now = () => new Date(Date.now() + ahead * 1000);
  const limits = stack.use(await openLimits(settings, { log, now }));
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const context: Context = {
    db: database.db,
    reserved: database.reserved,
    shared: database.shared,
    settings,
    sealer: sealing.sealer,
    keyHash: sealing.keyHash,
    auditKeys: sealing.auditKeys,
    events,
    limits,
    log,
    blobs: createFolderBlobStore(join(folder, 'blobs'), sealing.sealer),
    now,
    newId: () => randomUUIDv7(),
    problems: new Map(),
    stopping: stopping.signal,
    react: reactWith<Context>(families.map(({ reactions = {} }) => reactions)),
  };
  const admin = (await bootstrap(context, { id: 'admin', secret: newKeySecret() })) as FirstKey;
  const app = await buildApp(context, families);
  stack.defer(() => closeApp(app, 0));
  const project = await database.db
    .selectFrom('project')
    .select(['id', 'organization_id'])
    .executeTakeFirstOrThrow();
  disposeAtEnd(stack.move());
  return {
    app,
    context,
    database,
    folder,
    admin,
    logged,
    organizationId: project.organization_id,
    projectId: project.id,
    advance: (seconds) => void (ahead += seconds),
    addKey: (roles = {}, assigned = []) => addKey(context, roles, assigned),
    carryOutEffects: () =>
      carryOutDue(
        context,
        families.flatMap(({ effects = [] }) => effects),
      ),
    stopping,
    listen: () => app.listen({ host: '127.0.0.1', port: 0 }),
  };
}
