/** The parts of a credential that logs must not show. Names of accounts, projects and regions may appear. */
import type { CredentialValue } from '#contract/credentials/kinds.ts';

/** In a kubeconfig file, as YAML or JSON. */
const kubernetesSecret =
  /(?:^|[\s{,"'])(?:token|password|client-key-data|access-token|id-token|refresh-token)["']?\s*:\s*["']?([^\s"',}]+)/g;

function privateTexts(text: string): string[] {
  try {
    const key = JSON.parse(text) as Record<string, unknown>;
    return [key['private_key'], key['private_key_id']].filter((value) => typeof value === 'string');
  } catch {
    return [text];
  }
}

/** In clear and decoded: tools print both. */
function kubernetesTexts(text: string): string[] {
  return [...text.matchAll(kubernetesSecret)].flatMap(([, value = '']) => {
    const decoded = Buffer.from(value, 'base64').toString('utf8');
    return decoded.startsWith('-----BEGIN ') ? [value, decoded] : [value];
  });
}

export function secretTexts(value: CredentialValue): string[] {
  const { secretAccessKey, clientSecret, privateKey, serviceAccountKey, secret, kubeConfig } = value;
  return [
    ...[secretAccessKey, clientSecret, privateKey].filter((text) => text !== undefined),
    ...[serviceAccountKey, secret].flatMap((text) => (text === undefined ? [] : privateTexts(text))),
    ...(kubeConfig === undefined ? [] : kubernetesTexts(kubeConfig)),
  ];
}
