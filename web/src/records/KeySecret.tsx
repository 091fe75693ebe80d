/** Id and secret of a key, shown once, with a command that uses them. */
import { baseUrl } from '../api/client.ts';
import { SecretDialog } from './SecretDialog.tsx';

export interface KeySecretProps {
  readonly made: { readonly apiKeyId: string; readonly apiKeySecret: string };
  readonly onClose: () => void;
}

export function KeySecret({ made: { apiKeyId, apiKeySecret }, onClose }: KeySecretProps) {
  return (
    <SecretDialog
      title="The secret of the key"
      what="The secret"
      lead="Programs send the id as the user name and the secret as the password of HTTP Basic credentials."
      values={[
        { label: 'Id', value: apiKeyId },
        { label: 'Secret', value: apiKeySecret },
      ]}
      commands={[
        { label: 'Address', value: `export ENVARIUM_API_URL='${baseUrl.replace(/\/$/, '')}'` },
        { label: 'Id', value: `export ENVARIUM_API_KEY='${apiKeyId}'` },
        { label: 'Secret', value: 'read -rs ENVARIUM_API_SECRET && export ENVARIUM_API_SECRET' },
        { label: 'Test', value: 'envarium whoami' },
      ]}
      onClose={onClose}
    />
  );
}
