/** The secrets of agents: made, listed, and deleted. */
import type { AgentSecret, AgentSecretEntry } from '#contract/agents/shapes.ts';
import { operations } from '#contract/operations.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, notFound } from '../../ground/errors.ts';
import { type AgentRow, lockAgent } from '../../rows/agents/agent-store.ts';
import {
  type AgentSecretRow,
  deleteAgentSecretById,
  insertAgentSecret,
  listAgentSecrets,
} from '../../rows/agents/secret-store.ts';
import { creatorsOf, getUsers, systemUserId } from '../../rows/users/user-store.ts';
import { userOf } from '../../tenancy/users/user-view.ts';
import { requireIdle, requireManagedAgent } from './delete-agent.ts';

/** One that is in use, and one that replaces it. */
const mostValid = 2;

type ListedSecret = Omit<AgentSecretRow, 'secret_hmac'>;

function isValid({ expires_at: end }: Pick<ListedSecret, 'expires_at'>, now: Date): boolean {
  return end === null || end > now;
}

/** Fields of a secret in all replies. */
function fieldsOf({ description, expires_at, last_used_at }: ListedSecret) {
  return {
    ...(description ? { description } : {}),
    ...(expires_at ? { expiresAt: expires_at.toISOString() } : {}),
    ...(last_used_at ? { lastUsedAt: last_used_at.toISOString() } : {}),
  };
}

/** For the audit trail. */
function audited({ description, expires_at }: ListedSecret) {
  return { description, expiresAt: expires_at?.toISOString() ?? null };
}

/** Those of the service for its own agents do not count: each server has one. @throws Refusal 409 */
async function requireRoom({ db, now }: ActorContext, { agent_key: key }: AgentRow): Promise<void> {
  const secrets = await listAgentSecrets(db, key);
  const own = secrets.filter((each) => each.created_by !== systemUserId && isValid(each, now()));
  if (own.length >= mostValid)
    throw conflict(
      `The agent ${key} has ${mostValid} valid secrets, which is the most: delete the one that is no longer used first`,
    );
}

/** @throws Refusal 400 for a time that has passed */
function endOf({ now }: ActorContext, expiresAt: string | null | undefined): Date | null {
  if (!expiresAt) return null;
  const end = new Date(expiresAt);
  if (!(end > now())) throw badField('body.expiresAt', 'must be in the future');
  return end;
}

interface SecretBody {
  readonly description?: string;
  readonly expiresAt?: string | null;
}

/**
 * @param keyOrId as in the path
 * @throws Refusal 400, 403, 404, or 409 where the agent has two secrets that are valid
 */
async function createSecret(context: ActorContext, keyOrId: string, body: SecretBody): Promise<AgentSecret> {
  const { userId } = context.actor;
  return inTransaction(context, async (context) => {
    const expiresAt = endOf(context, body.expiresAt);
    await lockAgent(context.db, keyOrId);
    const agent = await requireManagedAgent(context, keyOrId);
    await requireRoom(context, agent);
    const { row, secret } = await insertAgentSecret(context.db, context, {
      agentKey: agent.agent_key,
      createdBy: userId,
      description: body.description ?? null,
      expiresAt,
    });
    const fingerprint = context.auditKeys.fingerprint('agent secret', secret);
    await recordAudit(context, {
      organizationId: agent.organization_id,
      action: 'agent.secretCreated',
      entityId: agent.id,
      details: { secretId: row.id },
      ...changesOf(null, { ...audited(row), secret: fingerprint }),
    });
    const users = await getUsers(context.db, [userId]);
    return {
      secret,
      createdBy: userOf(users, userId),
      agentId: agent.id,
      id: row.id,
      createdAt: row.created_at.toISOString(),
      ...fieldsOf(row),
    };
  });
}

async function listSecrets(context: ActorContext, keyOrId: string): Promise<AgentSecretEntry[]> {
  const agent = await requireManagedAgent(context, keyOrId);
  const rows = await listAgentSecrets(context.db, agent.agent_key);
  const users = await creatorsOf(context.db, rows);
  return rows.map((row) => ({
    id: row.id,
    agentId: agent.id,
    createdBy: userOf(users, row.created_by),
    createdAt: row.created_at.toISOString(),
    ...fieldsOf(row),
  }));
}

/**
 * Processes that use the secret, or a token for it, are refused from their next call on.
 * @param isForced also if it is the last one that is valid and the agent has runs
 * @throws Refusal 403, 404, or 409 for the last valid secret of an agent that has runs
 */
async function deleteSecret(
  context: ActorContext,
  keyOrId: string,
  { secretId, isForced }: { readonly secretId: string; readonly isForced: boolean },
): Promise<{ id: string }> {
  return inTransaction(context, async (context) => {
    await lockAgent(context.db, keyOrId);
    const agent = await requireManagedAgent(context, keyOrId);
    const secrets = await listAgentSecrets(context.db, agent.agent_key);
    const secret = secrets.find(({ id }) => id === secretId);
    if (!secret) throw notFound('agent secret', secretId);
    const valid = secrets.filter((each) => isValid(each, context.now()));
    if (valid.length === 1 && valid[0]?.id === secretId && !isForced)
      await requireIdle(context.db, agent.agent_key);
    await deleteAgentSecretById(context.db, agent.agent_key, secret.id);
    await recordAudit(context, {
      organizationId: agent.organization_id,
      action: 'agent.secretDeleted',
      entityId: agent.id,
      details: { secretId: secret.id, description: secret.description },
      ...changesOf(audited(secret), null),
    });
    return { id: secret.id };
  });
}

export const agentSecretRoutes: Route[] = [
  route(operations.createAgentSecret, (context, { params, body }) =>
    createSecret(context, params.agentKey, body),
  ),
  route(operations.listAgentSecrets, (context, { params }) => listSecrets(context, params.agentKey)),
  route(operations.deleteAgentSecret, (context, { params, query }) =>
    deleteSecret(context, params.agentKey, { secretId: params.secretId, isForced: query.force === true }),
  ),
];
