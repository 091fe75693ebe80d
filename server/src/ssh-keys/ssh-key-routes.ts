/** Operations on ssh keys. */
import { operations } from '#contract/operations.ts';
import type { SshKey } from '#contract/ssh-keys/shapes.ts';
import { readPrivateKey } from '#guards/read-private-key.ts';
import { type Changes, changesOf } from '../audit/changes.ts';
import { recordAudit } from '../audit/record.ts';
import type { ActorContext, Connection } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { badField, conflict, notFound } from '../http/errors.ts';
import { type Route, route } from '../http/route.ts';
import { sensitiveMask } from '../secrets/sensitive-mask.ts';
import { getUsers } from '../users/user-store.ts';
import { userOf } from '../users/user-view.ts';
import {
  auditedKey,
  deleteKey,
  getKey,
  insertKey,
  listKeys,
  replaceKeyValue,
  type SshKeyRow,
} from './ssh-key-store.ts';

async function views(db: Connection, rows: readonly SshKeyRow[]): Promise<SshKey[]> {
  const users = await getUsers(
    db,
    rows.map((row) => row.created_by),
  );
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    organizationId: row.organization_id,
    value: sensitiveMask,
    userId: row.created_by,
    user: userOf(users, row.created_by),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }));
}

async function view(db: Connection, row: SshKeyRow): Promise<SshKey> {
  const [key] = await views(db, [row]);
  return key as SshKey;
}

function checkedValue(value: string): string {
  const reading = readPrivateKey(value);
  if ('refusal' in reading) throw badField('body.value', reading.refusal);
  return reading.key;
}

function audit(
  context: ActorContext,
  action: string,
  row: { id: string; organizationId: string | null; name?: string },
  changes: Changes,
) {
  return recordAudit(context, {
    organizationId: row.organizationId,
    action: `sshKey.${action}`,
    entity: 'sshKey',
    entityId: row.id,
    ...(row.name === undefined ? {} : { details: { name: row.name } }),
    ...changes,
  });
}

export const sshKeyRoutes: Route[] = [
  route(operations.listSshKeys, async (context, { query }) =>
    views(context.db, await listKeys(context.db, query.organizationId)),
  ),
  route(operations.createSshKey, (context, { body }) => {
    const value = checkedValue(body.value);
    return inTransaction(context, async (context) => {
      const row = await insertKey(context.db, context, { ...body, value });
      if (!row) throw conflict(`An SSH key named "${body.name}" already exists: choose another name`);
      const { id, organization_id: organizationId, name } = row;
      const changes = changesOf(null, auditedKey(context, row));
      await audit(context, 'created', { id, organizationId, name }, changes);
      return view(context.db, row);
    });
  }),
  route(operations.updateSshKey, (context, { params, body }) => {
    const value = checkedValue(body.value);
    return inTransaction(context, async (context) => {
      const before = await getKey(context.db, params.id);
      const row = await replaceKeyValue(context.db, context, params.id, value);
      if (!row) throw notFound('ssh key', params.id);
      const { id, organization_id: organizationId, name } = row;
      const changes = changesOf(auditedKey(context, before), auditedKey(context, row));
      await audit(context, 'updated', { id, organizationId, name }, changes);
      return view(context.db, row);
    });
  }),
  route(operations.deleteSshKey, (context, { params, home }) =>
    inTransaction(context, async (context) => {
      const before = await getKey(context.db, params.id);
      await deleteKey(context.db, params.id);
      const organizationId = home?.organizationId ?? null;
      await audit(
        context,
        'deleted',
        { id: params.id, organizationId },
        changesOf(auditedKey(context, before), null),
      );
      return { id: params.id };
    }),
  ),
];
