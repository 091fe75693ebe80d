/** Audience of the token of a credential with OIDC: each cloud expects its own. */
import type { CredentialType, CredentialValue } from '#contract/credentials/kinds.ts';

/** @returns null for a type without a token */
export function audienceOf(type: CredentialType, value: CredentialValue): string | null {
  switch (type) {
    case 'AWS_OIDC':
      return 'sts.amazonaws.com';
    case 'AZURE_OIDC':
      return 'api://AzureADTokenExchange';
    case 'GCP_OIDC':
      return `https:${poolOf(value)}`;
    case 'VAULT_OIDC':
      return value.address ?? '';
    default:
      return null;
  }
}

/** The provider of the workload identity pool, as `//iam.googleapis.com/…`: the default audience is its address. */
function poolOf({ credentialConfigurationFileContent = '{}' }: CredentialValue): string {
  const { audience } = JSON.parse(credentialConfigurationFileContent) as { audience?: unknown };
  return typeof audience === 'string' ? audience : '';
}
