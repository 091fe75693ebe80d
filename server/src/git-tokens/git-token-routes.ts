/** Operations on git tokens. */
import type { GitToken } from '#contract/git-tokens/shapes.ts';
import { operations } from '#contract/operations.ts';
import { changesOf, sealedFingerprint } from '../audit/changes.ts';
import { recordAudit } from '../audit/record.ts';
import type { Context } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { badField, conflict, notFound } from '../http/errors.ts';
import { type Route, route } from '../http/route.ts';
import { sensitiveMask } from '../secrets/sensitive-mask.ts';
import {
  deleteToken,
  type GitTokenRow,
  getToken,
  insertToken,
  listTokens,
  openToken,
} from './git-token-store.ts';

function view(row: GitTokenRow): GitToken {
  return {
    id: row.id,
    name: row.name,
    organizationId: row.organization_id,
    type: row.type,
    hosts: row.hosts,
    value: sensitiveMask,
  };
}

/** For the audit trail. */
function audited(context: Context, row: GitTokenRow) {
  const { name, type, hosts, organization_id: organizationId } = row;
  const place = `git token of ${organizationId}`;
  return { name, type, hosts, value: sealedFingerprint(context, place, () => openToken(context, row)) };
}

export const gitTokenRoutes: Route[] = [
  route(operations.listGitTokens, async (context, { query }) =>
    (await listTokens(context.db, query.organizationId, query.type)).map(view),
  ),
  route(operations.createGitToken, (context, { body }) =>
    inTransaction(context, async (context) => {
      const { type = 'GIT' } = body;
      const hosts = [...new Set(body.hosts ?? [])];
      if (type === 'REGISTRY' && hosts.length === 0)
        throw badField(
          'body.hosts',
          'a token of type REGISTRY is sent only to its hosts: specify at least one',
        );
      const row = await insertToken(context.db, context, { ...body, type, hosts });
      if (!row) throw conflict(`A git token named "${body.name}" already exists: choose another name`);
      await recordAudit(context, {
        organizationId: row.organization_id,
        action: 'gitToken.created',
        entity: 'gitToken',
        entityId: row.id,
        details: { name: row.name, type: row.type, hosts: row.hosts },
        ...changesOf(null, audited(context, row)),
      });
      return view(row);
    }),
  ),
  route(operations.getGitToken, async (context, { params }) => {
    const row = await getToken(context.db, params.id);
    if (!row) throw notFound('git token', params.id);
    return view(row);
  }),
  route(operations.deleteGitToken, (context, { params, home }) =>
    inTransaction(context, async (context) => {
      const row = await getToken(context.db, params.id);
      await deleteToken(context.db, params.id);
      await recordAudit(context, {
        organizationId: home?.organizationId ?? null,
        action: 'gitToken.deleted',
        entity: 'gitToken',
        entityId: params.id,
        ...(row ? changesOf(audited(context, row), null) : {}),
      });
      return { id: params.id };
    }),
  ),
];
