/** Operations on connections to forges. */
import { operations } from '#contract/operations.ts';
import { defaultVcsAgentKey, type VcsConnection } from '#contract/vcs-connections/shapes.ts';
import { repositoryRefusal } from '#guards/source-guards.ts';
import { changesOf } from '../../framework/audit/changes.ts';
import { type AuditEntry, recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, notFound, orNotFound, Refusal, unknownEntity } from '../../ground/errors.ts';
import { scopeOf, serves } from '../../rows/agents/agent-scope.ts';
import { findAgent, isDefaultAgentName } from '../../rows/agents/agent-store.ts';
import { installationsOf } from '../../rows/templates/template-use-store.ts';
import {
  deleteConnection,
  getConnection,
  insertConnection,
  listConnections,
  updateConnection,
  type VcsConnectionRow,
} from '../../rows/vcs-connections/vcs-connection-store.ts';
import { requireUnused, usesOf, visibleUses } from '../git-tokens/credential-uses.ts';
import { requireTokenFor } from '../git-tokens/require-token-for.ts';
import { repositoryPlaceOf } from './vcs-provider.ts';

function view(row: VcsConnectionRow): VcsConnection {
  return {
    id: row.id,
    name: row.name,
    organizationId: row.organization_id,
    type: row.type,
    url: row.url,
    vcsAgentKey: row.vcs_agent_key,
    accessScope: row.access_scope,
    connectionType: row.connection_type,
    ...(row.token_id ? { tokenId: row.token_id } : {}),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** For the audit trail. */
function audited({ name, type, url, vcs_agent_key: vcsAgentKey, token_id: tokenId }: VcsConnectionRow) {
  return { name, type, url, vcsAgentKey, tokenId };
}

function audit(
  context: ActorContext,
  action: string,
  row: VcsConnectionRow,
  changes: Partial<AuditEntry>,
): Promise<void> {
  return recordAudit(context, {
    organizationId: row.organization_id,
    action: `vcsConnection.${action}`,
    entityId: row.id,
    details: { name: row.name },
    ...changes,
  });
}

/** The default agent by any of its names, or an agent that serves the organization. */
async function agentKeyOf({ db }: ActorContext, organizationId: string, key: string): Promise<string> {
  if (key === '' || isDefaultAgentName(key)) return key || defaultVcsAgentKey;
  const agent = await findAgent(db, key);
  if (!agent || !serves(scopeOf(agent), organizationId)) throw unknownEntity('body.vcsAgentKey', 'agent');
  return key;
}

/** @returns the id as it is stored; null for none */
async function tokenFor(
  { db }: ActorContext,
  { organizationId, url }: { readonly organizationId: string; readonly url: string },
  tokenId: string | null,
): Promise<string | null> {
  if (!tokenId) return null;
  const use = { organizationId, projectId: null, tokenId, repository: url };
  return (await requireTokenFor(db, use, 'body.tokenId')).id;
}

/** @throws Refusal 400 for an address that runs would not read from */
function checkUrl({ settings }: ActorContext, url: string): void {
  const refusal = /^https?:\/\//i.test(url)
    ? repositoryRefusal(url, { httpHosts: settings.gitHttpHosts, localPaths: [] })
    : 'it must be an https address';
  if (refusal) throw badField('body.url', `is refused: ${refusal.replace(/^repository /, 'it ')}`);
}

function nameTaken(name: string): Refusal {
  return conflict(`A VCS connection named "${name}" already exists: choose another name`);
}

/** Host and owner of a repository, as one text. */
function ownerOf(repository: string): string | null {
  const place = repositoryPlaceOf(repository);
  const [owner = ''] = place?.path.split('/') ?? [];
  return place === null || owner === '' ? null : `${place.host}/${owner.toLowerCase()}`;
}

export const vcsConnectionRoutes: Route[] = [
  route(operations.listVcsConnections, async (context, { query }) =>
    (await listConnections(context.db, query.organizationId)).map(view),
  ),
  route(operations.createVcsConnection, (context, { body }) => {
    checkUrl(context, body.url);
    return inTransaction(context, async (context) => {
      const row = await insertConnection(context.db, context, {
        ...body,
        vcsAgentKey: await agentKeyOf(context, body.organizationId, body.vcsAgentKey ?? ''),
        accessScope: body.accessScope || 'organization',
        connectionType: body.connectionType || 'self-hosted',
        tokenId: await tokenFor(context, body, body.tokenId ?? null),
      });
      if (!row) throw nameTaken(body.name);
      await audit(context, 'created', row, changesOf(null, audited(row)));
      return view(row);
    });
  }),
  route(operations.getVcsConnection, async (context, { params }) => {
    const row = orNotFound(await getConnection(context.db, params.id), 'VCS connection', params.id);
    const uses = await usesOf(context.db, row.organization_id, { vcsConnectionId: row.id });
    return { ...view(row), usedBy: visibleUses(context.actor, uses) };
  }),
  route(operations.updateVcsConnection, (context, { params, body }) =>
    inTransaction(context, async (context) => {
      const before = orNotFound(await getConnection(context.db, params.id), 'VCS connection', params.id);
      const { organization_id: organizationId, url } = before;
      const row = await updateConnection(context.db, before.id, {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.vcsAgentKey
          ? { vcs_agent_key: await agentKeyOf(context, organizationId, body.vcsAgentKey) }
          : {}),
        ...(body.tokenId === undefined
          ? {}
          : { token_id: await tokenFor(context, { organizationId, url }, body.tokenId) }),
        updated_at: context.now(),
      });
      if (!row) throw nameTaken(body.name ?? '');
      await audit(context, 'updated', row, changesOf(audited(before), audited(row)));
      return view(row);
    }),
  ),
  route(operations.deleteVcsConnection, (context, { params }) =>
    inTransaction(context, async (context) => {
      const row = orNotFound(await getConnection(context.db, params.id), 'VCS connection', params.id);
      const uses = await usesOf(context.db, row.organization_id, { vcsConnectionId: row.id });
      requireUnused(context.actor, uses, `VCS connection "${row.name}"`);
      await deleteConnection(context.db, row.id);
      await audit(context, 'deleted', row, changesOf(audited(row), null));
      return { id: row.id };
    }),
  ),
  route(operations.getVcsToken, async (context, { params, query }) => {
    if (params.vcsType !== 'github') throw notFound('VCS type', params.vcsType);
    const owner = ownerOf(query.repository);
    const known = await installationsOf(context.db, query.organizationId);
    const found = known.find(({ repository }) => owner !== null && ownerOf(repository) === owner);
    if (found === undefined)
      throw new Refusal(
        'not_found',
        'No template of the organization names a GitHub installation for a repository of this owner',
      );
    return { token: Number(found.installation) };
  }),
];
