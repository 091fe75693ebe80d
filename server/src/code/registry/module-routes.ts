/** Operations on modules. */
import { operations } from '#contract/operations.ts';
import type { Module } from '#contract/registry/shapes.ts';
import { without } from '#contract/schema/without-nulls.ts';
import { type Changes, changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, orNotFound } from '../../ground/errors.ts';
import { changedSettings } from '../../rows/registry/module-settings.ts';
import {
  getModule,
  insertModule,
  listModules,
  lockModule,
  type ModuleRow,
  type ModuleValues,
  markModuleDeleted,
  updateModule,
} from '../../rows/registry/module-store.ts';
import { creatorsOf } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { splitCredentials } from '../templates/repository-credentials.ts';

async function views(db: Connection, rows: readonly ModuleRow[]): Promise<Module[]> {
  const users = await creatorsOf(db, rows);
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    type: 'module',
    moduleName: row.name,
    moduleProvider: row.provider,
    ...row.settings,
    author: userOf(users, row.created_by),
    authorId: row.created_by,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    isDeleted: row.is_deleted,
  }));
}

async function view(db: Connection, row: ModuleRow): Promise<Module> {
  const [module] = await views(db, [row]);
  return module as Module;
}

/** A record is visible in the whole organization. */
function refuseCredentials(repository: string | undefined): void {
  if (repository !== undefined && splitCredentials(repository).credentials !== null)
    throw badField(
      'body.repository',
      'contains credentials: remove them, and specify a git token as tokenId',
    );
}

function taken({ name, provider }: Pick<ModuleValues, 'name' | 'provider'>) {
  return conflict(`A module "${name}" for the provider "${provider}" already exists: choose another name`);
}

function auditedModule({ name, provider, settings }: ModuleRow) {
  return { moduleName: name, moduleProvider: provider, ...settings };
}

function audit(context: ActorContext, action: string, row: ModuleRow, changes: Changes) {
  return recordAudit(context, {
    organizationId: row.organization_id,
    action: `module.${action}`,
    entityId: row.id,
    details: { name: row.name, provider: row.provider },
    ...changes,
  });
}

/** Locked until the end of the transaction. @throws Refusal 404 for a deleted one */
async function existing(db: Connection, id: string): Promise<ModuleRow> {
  await lockModule(db, id);
  const row = await getModule(db, id);
  return orNotFound(row?.is_deleted === true ? undefined : row, 'module', id);
}

export const moduleRoutes: Route[] = [
  route(operations.listModules, async (context, { query }) =>
    views(context.db, await listModules(context.db, query.organizationId)),
  ),
  route(operations.createModule, (context, { body }) => {
    refuseCredentials(body.repository);
    const { organizationId, moduleName: name, moduleProvider: provider } = body;
    const values = { name, provider, settings: changedSettings(null, body) };
    return inTransaction(context, async (context) => {
      const row = await insertModule(context.db, context, organizationId, values);
      if (!row) throw taken(values);
      await audit(context, 'created', row, changesOf(null, auditedModule(row)));
      return view(context.db, row);
    });
  }),
  route(operations.getModule, async (context, { params }) =>
    view(context.db, orNotFound(await getModule(context.db, params.id), 'module', params.id)),
  ),
  route(operations.updateModule, (context, { params, body }) => {
    refuseCredentials(body.repository);
    return inTransaction(context, async (context) => {
      const before = await existing(context.db, params.id);
      const { moduleName: name = before.name, moduleProvider: provider = before.provider } = body;
      const settings = changedSettings(before.settings, without(body, ['moduleName', 'moduleProvider']));
      const values = { name, provider, settings };
      const row = await updateModule(context.db, context, params.id, values);
      if (!row) throw taken(values);
      await audit(context, 'updated', row, changesOf(auditedModule(before), auditedModule(row)));
      return view(context.db, row);
    });
  }),
  route(operations.deleteModule, (context, { params }) =>
    inTransaction(context, async (context) => {
      const before = await existing(context.db, params.id);
      await markModuleDeleted(context.db, context, params.id);
      await audit(context, 'deleted', before, changesOf(auditedModule(before), null));
      return { id: params.id };
    }),
  ),
];
