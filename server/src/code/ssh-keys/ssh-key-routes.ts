/** Operations on ssh keys. */
import { operations } from '#contract/operations.ts';
import type { SshKey } from '#contract/ssh-keys/shapes.ts';
import { readPrivateKey } from '#guards/read-private-key.ts';
import { type Changes, changesOf, sealedFingerprint } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Connection, Context } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, orNotFound } from '../../ground/errors.ts';
import { changedSecret, sensitiveMask } from '../../ground/secrets/sensitive-mask.ts';
import {
  deleteKey,
  getKey,
  insertKey,
  listKeys,
  openKey,
  type SshKeyRow,
  updateKey,
} from '../../rows/ssh-keys/ssh-key-store.ts';
import { creatorsOf } from '../../rows/users/user-store.ts';
import { requireProjects } from '../../tenancy/projects/require-projects.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { requireUnused, usesOf, visibleUses } from '../git-tokens/credential-uses.ts';

async function views(db: Connection, rows: readonly SshKeyRow[]): Promise<SshKey[]> {
  const users = await creatorsOf(db, rows);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    organizationId: row.organization_id,
    value: sensitiveMask,
    projectIds: row.project_ids,
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
    entityId: row.id,
    ...(row.name === undefined ? {} : { details: { name: row.name } }),
    ...changes,
  });
}

function projectsOf({ db }: Pick<ActorContext, 'db'>, organizationId: string, ids: readonly string[]) {
  return requireProjects(db, organizationId, ids, 'body.projectIds');
}

export const sshKeyRoutes: Route[] = [
  route(operations.listSshKeys, async (context, { query }) =>
    views(context.db, await listKeys(context.db, query.organizationId)),
  ),
  route(operations.createSshKey, (context, { body }) => {
    const value = checkedValue(body.value);
    return inTransaction(context, async (context) => {
      const projectIds = await projectsOf(context, body.organizationId, body.projectIds ?? []);
      const row = await insertKey(context.db, context, { ...body, value, projectIds });
      if (!row) throw conflict(`An SSH key named "${body.name}" already exists: choose another name`);
      const { id, organization_id: organizationId, name } = row;
      const changes = changesOf(null, auditedKey(context, row));
      await audit(context, 'created', { id, organizationId, name }, changes);
      return view(context.db, row);
    });
  }),
  route(operations.getSshKey, async (context, { params }) => {
    const row = orNotFound(await getKey(context.db, params.id), 'ssh key', params.id);
    const uses = await usesOf(context.db, row.organization_id, { sshKeyId: row.id });
    return { ...(await view(context.db, row)), usedBy: visibleUses(context.actor, uses) };
  }),
  route(operations.updateSshKey, (context, { params, body }) => {
    const sent = changedSecret(body.value);
    const value = sent === undefined ? undefined : checkedValue(sent);
    return inTransaction(context, async (context) => {
      const before = orNotFound(await getKey(context.db, params.id), 'ssh key', params.id);
      const { projectIds: ids } = body;
      const projectIds = ids ? await projectsOf(context, before.organization_id, ids) : undefined;
      const row = await updateKey(context.db, context, params.id, { value, projectIds });
      const { id, organization_id: organizationId, name } = row;
      const changes = changesOf(auditedKey(context, before), auditedKey(context, row));
      await audit(context, 'updated', { id, organizationId, name }, changes);
      return view(context.db, row);
    });
  }),
  route(operations.deleteSshKey, (context, { params, home }) =>
    inTransaction(context, async (context) => {
      const before = orNotFound(await getKey(context.db, params.id), 'ssh key', params.id);
      const uses = await usesOf(context.db, before.organization_id, { sshKeyId: before.id });
      requireUnused(context.actor, uses, `SSH key "${before.name}"`);
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

/** For the audit trail. */
function auditedKey(context: Context, row: SshKeyRow | undefined) {
  if (!row) return null;
  const place = `ssh key of ${row.organization_id}`;
  const value = sealedFingerprint(context, place, () => openKey(context, row));
  return { name: row.name, projectIds: row.project_ids, value };
}
