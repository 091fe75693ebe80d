/** Operations on providers, and on the keys that sign them. */
import { operations } from '#contract/operations.ts';
import type { GpgKey, Provider } from '#contract/registry/shapes.ts';
import { type Changes, changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { conflict, orNotFound } from '../../ground/errors.ts';
import {
  deleteGpgKey,
  deleteProvider,
  describeProvider,
  type GpgKeyRow,
  getProvider,
  insertGpgKey,
  insertProvider,
  listGpgKeys,
  listProviders,
  lockProvider,
  type ProviderRow,
} from '../../rows/registry/provider-store.ts';
import { creatorsOf } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';

async function creators(db: Connection, rows: readonly { readonly created_by: string }[]) {
  const users = await creatorsOf(db, rows);
  return ({ created_by: createdBy }: { readonly created_by: string }) => ({
    createdBy,
    createdByUser: userOf(users, createdBy),
  });
}

async function providerViews(db: Connection, rows: readonly ProviderRow[]): Promise<Provider[]> {
  const creator = await creators(db, rows);
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    type: row.type,
    ...(row.description ? { description: row.description } : {}),
    ...creator(row),
  }));
}

async function keyViews(db: Connection, rows: readonly GpgKeyRow[]): Promise<GpgKey[]> {
  const creator = await creators(db, rows);
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    keyId: row.key_id,
    content: row.content,
    ...creator(row),
  }));
}

const auditedProvider = ({ type, description }: ProviderRow) => ({ type, description });
const auditedKey = ({ name, key_id: keyId, content }: GpgKeyRow) => ({ name, keyId, content });

function audit(
  context: ActorContext,
  entity: 'provider' | 'gpgKey',
  action: string,
  row: ProviderRow | GpgKeyRow,
  changes: Changes,
) {
  return recordAudit(context, {
    organizationId: row.organization_id,
    action: `${entity}.${action}`,
    entityId: row.id,
    details: { name: 'type' in row ? row.type : row.name },
    ...changes,
  });
}

async function one<View>(views: Promise<View[]>): Promise<View> {
  const [view] = await views;
  return view as View;
}

const providers: Route[] = [
  route(operations.listProviders, async (context, { query }) =>
    providerViews(context.db, await listProviders(context.db, query.organizationId)),
  ),
  route(operations.createProvider, (context, { body }) =>
    inTransaction(context, async (context) => {
      const description = body.description || null;
      const row = await insertProvider(context.db, context, { ...body, description });
      if (!row) throw conflict(`A provider of type "${body.type}" already exists: choose another type`);
      await audit(context, 'provider', 'created', row, changesOf(null, auditedProvider(row)));
      return one(providerViews(context.db, [row]));
    }),
  ),
  route(operations.getProvider, async (context, { params }) => {
    const row = orNotFound(await getProvider(context.db, params.id), 'provider', params.id);
    return one(providerViews(context.db, [row]));
  }),
  route(operations.updateProvider, (context, { params, body }) =>
    inTransaction(context, async (context) => {
      await lockProvider(context.db, params.id);
      const before = orNotFound(await getProvider(context.db, params.id), 'provider', params.id);
      const row = await describeProvider(context.db, context, params.id, body.description || null);
      await audit(
        context,
        'provider',
        'updated',
        row,
        changesOf(auditedProvider(before), auditedProvider(row)),
      );
      return one(providerViews(context.db, [row]));
    }),
  ),
  route(operations.deleteProvider, (context, { params }) =>
    inTransaction(context, async (context) => {
      const row = orNotFound(await deleteProvider(context.db, params.id), 'provider', params.id);
      await audit(context, 'provider', 'deleted', row, changesOf(auditedProvider(row), null));
      return { id: params.id };
    }),
  ),
];

const keys: Route[] = [
  route(operations.listGpgKeys, async (context, { query }) =>
    keyViews(context.db, await listGpgKeys(context.db, query.organizationId)),
  ),
  route(operations.createGpgKey, (context, { body }) =>
    inTransaction(context, async (context) => {
      const row = await insertGpgKey(context.db, context, body);
      await audit(context, 'gpgKey', 'created', row, changesOf(null, auditedKey(row)));
      return one(keyViews(context.db, [row]));
    }),
  ),
  route(operations.deleteGpgKey, (context, { params }) =>
    inTransaction(context, async (context) => {
      const row = orNotFound(await deleteGpgKey(context.db, params.id), 'GPG key', params.id);
      await audit(context, 'gpgKey', 'deleted', row, changesOf(auditedKey(row), null));
      return { id: params.id };
    }),
  ),
];

export const providerRoutes: Route[] = [...providers, ...keys];
