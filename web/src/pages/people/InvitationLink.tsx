/** The one-time link of an invitation. */
import { SecretDialog } from '../../records/SecretDialog.tsx';

export interface InvitationLinkProps {
  readonly email: string;
  readonly link: string;
  readonly onClose: () => void;
}

export function InvitationLink({ email, link, onClose }: InvitationLinkProps) {
  return (
    <SecretDialog
      title="Pass on the link"
      what="The link"
      lead={
        <>
          Send this link to <bdi>{email}</bdi>, over a way that only they read. It works once; a new link
          replaces it.
        </>
      }
      values={[{ label: 'Link', value: link }]}
      onClose={onClose}
    />
  );
}
