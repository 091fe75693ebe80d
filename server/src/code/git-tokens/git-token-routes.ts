/** Operations on git tokens. */
import type { GitToken } from '#contract/git-tokens/shapes.ts';
import { operations } from '#contract/operations.ts';
import { changesOf, sealedFingerprint } from '../../framework/audit/changes.ts';
import { recordAudit } from '../../framework/audit/record.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { type Route, route } from '../../framework/http/route.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { badField, conflict, orNotFound, type Refusal } from '../../ground/errors.ts';
import { changedSecret, sensitiveMask } from '../../ground/secrets/sensitive-mask.ts';
import {
  deleteToken,
  type GitTokenRow,
  getToken,
  insertToken,
  listTokens,
  openToken,
  updateToken,
} from '../../rows/git-tokens/git-token-store.ts';
import { requireProjects } from '../../tenancy/projects/require-projects.ts';
import { requireUnused, usesOf, visibleUses } from './credential-uses.ts';

function view(row: GitTokenRow): GitToken {
  return {
    id: row.id,
    name: row.name,
    organizationId: row.organization_id,
    type: row.type,
    hosts: row.hosts,
    projectIds: row.project_ids,
    value: sensitiveMask,
  };
}

/** For the audit trail. */
function audited(context: Context, row: GitTokenRow) {
  const { name, type, hosts, organization_id: organizationId, project_ids: projectIds } = row;
  const place = `git token of ${organizationId}`;
  const value = sealedFingerprint(context, place, () => openToken(context, row));
  return { name, type, hosts, projectIds, value };
}

function withoutHosts(): Refusal {
  return badField('body.hosts', 'a token of type REGISTRY is sent only to its hosts: specify at least one');
}

function projectsOf({ db }: Pick<ActorContext, 'db'>, organizationId: string, ids: readonly string[]) {
  return requireProjects(db, organizationId, ids, 'body.projectIds');
}

export const gitTokenRoutes: Route[] = [
  route(operations.listGitTokens, async (context, { query }) =>
    (await listTokens(context.db, query.organizationId, query.type)).map(view),
  ),
  route(operations.createGitToken, (context, { body }) =>
    inTransaction(context, async (context) => {
      if (changedSecret(body.value) === undefined)
        throw badField('body.value', 'is the placeholder for a hidden value: send the token');
      const { type = 'GIT' } = body;
      const hosts = [...new Set(body.hosts ?? [])];
      if (type === 'REGISTRY' && hosts.length === 0) throw withoutHosts();
      const projectIds = await projectsOf(context, body.organizationId, body.projectIds ?? []);
      const row = await insertToken(context.db, context, { ...body, type, hosts, projectIds });
      if (!row) throw conflict(`A git token named "${body.name}" already exists: choose another name`);
      await recordAudit(context, {
        organizationId: row.organization_id,
        action: 'gitToken.created',
        entityId: row.id,
        details: { name: row.name, type: row.type, hosts: row.hosts },
        ...changesOf(null, audited(context, row)),
      });
      return view(row);
    }),
  ),
  route(operations.getGitToken, async (context, { params }) => {
    const row = orNotFound(await getToken(context.db, params.id), 'git token', params.id);
    const uses = await usesOf(context.db, row.organization_id, { tokenId: row.id });
    return { ...view(row), usedBy: visibleUses(context.actor, uses) };
  }),
  route(operations.updateGitToken, (context, { params, body }) =>
    inTransaction(context, async (context) => {
      const before = orNotFound(await getToken(context.db, params.id), 'git token', params.id);
      const { projectIds: ids, ...changes } = body;
      const projectIds = ids && (await projectsOf(context, before.organization_id, ids));
      if (before.type === 'REGISTRY' && changes.hosts?.length === 0) throw withoutHosts();
      const row = await updateToken(context.db, context, before.id, {
        ...changes,
        value: changedSecret(changes.value),
        projectIds,
      });
      if (!row) throw conflict(`A git token named "${body.name ?? ''}" already exists: choose another name`);
      await recordAudit(context, {
        organizationId: row.organization_id,
        action: 'gitToken.updated',
        entityId: row.id,
        details: { name: row.name, fields: Object.keys(body) },
        ...changesOf(audited(context, before), audited(context, row)),
      });
      return view(row);
    }),
  ),
  route(operations.deleteGitToken, (context, { params, home }) =>
    inTransaction(context, async (context) => {
      const row = orNotFound(await getToken(context.db, params.id), 'git token', params.id);
      const uses = await usesOf(context.db, row.organization_id, { tokenId: row.id });
      requireUnused(context.actor, uses, `Git token "${row.name}"`);
      await deleteToken(context.db, params.id);
      await recordAudit(context, {
        organizationId: home?.organizationId ?? null,
        action: 'gitToken.deleted',
        entityId: params.id,
        ...changesOf(audited(context, row), null),
      });
      return { id: params.id };
    }),
  ),
];
