/** Checks the credentials with which a request says that code is read. */
import type { TemplateRequest } from '#contract/templates/template-body.ts';
import type { ActorContext } from '../../framework/context.ts';
import { badField } from '../../ground/errors.ts';
import { unknownKey } from '../../rows/ssh-keys/ssh-key-store.ts';
import { getConnection } from '../../rows/vcs-connections/vcs-connection-store.ts';
import { requireTokenFor } from '../git-tokens/require-token-for.ts';

/** The repository, without credentials, and what it is read with. */
export interface SentCredentials extends Pick<TemplateRequest, 'tokenId' | 'sshKeys'> {
  readonly repository: string;
  readonly vcsConnectionId?: string | null;
}

export interface CredentialPlaces {
  readonly organizationId: string;
  /** Projects that must all be allowed to use them; none: it is enough that the organization has them. */
  readonly projectIds: readonly string[];
}

async function checkFor(
  { db }: ActorContext,
  place: { readonly organizationId: string; readonly projectId: string | null },
  { repository, tokenId, sshKeys = [] }: SentCredentials,
  body: string,
): Promise<void> {
  if (tokenId) await requireTokenFor(db, { ...place, tokenId, repository }, `${body}.tokenId`);
  const keyIds = sshKeys.map((key) => key.id);
  const unknown = await unknownKey(db, place, keyIds);
  if (unknown !== null)
    throw badField(
      `${body}.sshKeys.${keyIds.indexOf(unknown)}.id`,
      'does not match an SSH key you have access to',
    );
}

/**
 * @param body location of the fields, as `body`
 * @throws Refusal 400 for what does not exist, may not be used in these projects, or not for this repository
 */
export async function checkCredentials(
  context: ActorContext,
  { organizationId, projectIds }: CredentialPlaces,
  sent: SentCredentials,
  body: string,
): Promise<void> {
  for (const projectId of projectIds.length > 0 ? projectIds : [null])
    await checkFor(context, { organizationId, projectId }, sent, body);
  const { vcsConnectionId } = sent;
  if (
    vcsConnectionId &&
    (await getConnection(context.db, vcsConnectionId))?.organization_id !== organizationId
  )
    throw badField(`${body}.vcsConnectionId`, 'does not match a VCS connection you have access to');
}
