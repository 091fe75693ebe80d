/** Shapes of replies about connections to forges. */
import { type Static, Type } from 'typebox';
import { CredentialUse } from '../git-tokens/shapes.ts';
import { oneOf } from '../schema/enumerations.ts';
import { Instant, replyObject, Text } from '../schema/schema.ts';
import { vcsConnectionTypes } from './connection-types.ts';

/** The agent key of the default agent. */
export const defaultVcsAgentKey = 'ENVARIUM_DEFAULT';

/** Returned as they were sent. */
export const AccessScope = Type.String({
  description: 'Who may use it, in words of the client; default: organization',
});
export const ConnectionType = Type.String({
  description: 'How the forge is reached, in words of the client; default: self-hosted',
});

const fields = {
  id: Text,
  name: Text,
  organizationId: Text,
  type: oneOf(vcsConnectionTypes),
  url: Type.String({ description: 'Address of the forge' }),
  vcsAgentKey: Type.String({
    description: `Agent that reaches the forge; ${defaultVcsAgentKey}: the default one`,
  }),
  accessScope: AccessScope,
  connectionType: ConnectionType,
  tokenId: Type.Optional(
    Type.String({ description: 'Git token that is sent to repositories on the host of the address' }),
  ),
  createdAt: Instant,
  updatedAt: Instant,
};

export const VcsConnection = replyObject('VcsConnection', fields);
export type VcsConnection = Static<typeof VcsConnection>;

export const VcsConnectionDetails = replyObject('VcsConnectionDetails', {
  ...fields,
  usedBy: Type.Array(CredentialUse, { description: 'What names it, as far as the caller may see it' }),
});

export const VcsToken = replyObject('VcsToken', {
  token: Type.Integer({ description: 'Id of the installation' }),
});
