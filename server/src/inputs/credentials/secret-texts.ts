/** The parts of a credential that logs must not show. Names of accounts, projects and regions may appear. */
import { kubeconfigSecrets } from '#clouds/kubernetes.ts';
import type { CredentialValue } from '#contract/credentials/kinds.ts';

function privateTexts(text: string): string[] {
  try {
    const key = JSON.parse(text) as Record<string, unknown>;
    return [key['private_key'], key['private_key_id']].filter((value) => typeof value === 'string');
  } catch {
    return [text];
  }
}

export function secretTexts(value: CredentialValue): string[] {
  const { secretAccessKey, clientSecret, privateKey, serviceAccountKey, secret, kubeConfig } = value;
  return [
    ...[secretAccessKey, clientSecret, privateKey].filter((text) => text !== undefined),
    ...[serviceAccountKey, secret].flatMap((text) => (text === undefined ? [] : privateTexts(text))),
    ...(kubeConfig === undefined ? [] : kubeconfigSecrets(kubeConfig)),
  ];
}
