/** State versions and locks as replies show them. */
import type { StateLock, StateVersion } from '#contract/state/shapes.ts';
import type { Connection } from '../../framework/context.ts';
import type { StateLockRow } from '../../rows/state/state-lock-store.ts';
import type { StateVersionRow } from '../../rows/state/state-store.ts';
import { creatorsOf, getUsers, type UserRow } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';

function view(row: StateVersionRow, users: ReadonlyMap<string, UserRow>): StateVersion {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    environmentId: row.environment_id,
    ...(row.deployment_id ? { deploymentLogId: row.deployment_id } : {}),
    origin: row.origin,
    ...(row.created_by ? { createdBy: row.created_by, createdByUser: userOf(users, row.created_by) } : {}),
    ...(row.comment === null ? {} : { comment: row.comment }),
    ...(row.made_from_id ? { madeFrom: row.made_from_id } : {}),
    serial: row.serial,
    lineage: row.lineage,
    ...(row.terraform_version === null ? {} : { terraformVersion: row.terraform_version }),
    sha256: row.sha256,
    bytes: row.bytes,
    ...(row.follows_id ? { follows: row.follows_id } : {}),
    standing: row.standing,
    ...(row.resource_count === null ? {} : { resourceCount: row.resource_count }),
  };
}

export async function stateVersionViews(
  db: Connection,
  rows: readonly StateVersionRow[],
): Promise<StateVersion[]> {
  const users = await creatorsOf(db, rows);
  return rows.map((row) => view(row, users));
}

export async function stateVersionView(db: Connection, row: StateVersionRow): Promise<StateVersion> {
  const [only] = await stateVersionViews(db, [row]);
  return only as StateVersion;
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

export async function stateLockView(db: Connection, row: StateLockRow): Promise<StateLock> {
  const users = await getUsers(db, [row.held_by]);
  const { Who: who, Operation: operation, Info: info, Version: version } = row.info;
  const ofTool = { who: text(who), operation: text(operation), info: text(info), version: text(version) };
  return {
    lockId: row.lock_id,
    since: row.held_since.toISOString(),
    heldBy: row.held_by,
    heldByUser: userOf(users, row.held_by),
    ...Object.fromEntries(Object.entries(ofTool).filter(([, value]) => value !== undefined)),
  };
}
