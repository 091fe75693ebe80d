/** Organization that an identity provider acts for: the one whose token it sends. */
import type { FastifyRequest } from 'fastify';
import { Access } from '../../framework/access/access.ts';
import type { Actor } from '../../framework/access/actor.ts';
import { rightsOfRole } from '../../framework/access/role-rights.ts';
import type { Context } from '../../framework/context.ts';
import { readScimToken } from '../../framework/http/callers/credentials.ts';
import { CredentialsRefused, refusedCallers } from '../../framework/http/callers/refused-callers.ts';
import { getTokenRow, storeTokenUse } from '../../rows/scim/scim-token-store.ts';

/** The user in the audit trail, together with the id of the token. */
const scimUserId = 'scim';

const lastUseEvery = 60_000;

/** An identity provider, acting for one organization. */
export interface Provisioner {
  readonly organizationId: string;
  readonly actor: Actor;
}

function actorOf(tokenId: string, organizationId: string): Actor {
  const rights = rightsOfRole('organization', 'Admin', null);
  const held = { role: 'Admin', rights, projects: new Map(), environments: new Map() };
  return {
    userId: scimUserId,
    name: 'SCIM',
    email: '',
    keyId: tokenId,
    sessionId: null,
    access: new Access(new Map([[organizationId, held]])),
  };
}

/** The time that it takes does not tell which tokens exist. */
async function identify(context: Context, request: FastifyRequest): Promise<Provisioner> {
  const token = readScimToken(request.headers.authorization);
  const row = token ? await getTokenRow(context.db, token.id) : undefined;
  const isRight = context.keyHash.matches(token?.secret ?? '', row?.secret_hmac ?? null);
  if (!row || !isRight)
    throw new CredentialsRefused(
      'This SCIM token is not valid: send one of the organization as Authorization: Bearer',
      null,
    );
  const now = context.now();
  if (!row.last_used_at || now.getTime() - row.last_used_at.getTime() > lastUseEvery)
    await storeTokenUse(context.db, row.id, now);
  return { organizationId: row.organization_id, actor: actorOf(row.id, row.organization_id) };
}

/** @throws CredentialsRefused (401), TooManyRequests (429) where the address was refused too often */
export function identifyProvisioner(context: Context, request: FastifyRequest): Promise<Provisioner> {
  return refusedCallers(context).check(request, () => identify(context, request));
}
