/**
 * What runs need to know of the network: they start from an empty environment, so that it is handed on
 * deliberately.
 */
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  proxyEnvironment,
  proxySecrets,
  readCertificates,
  trustedCertificates,
  useNetwork,
} from '#settings/network.ts';
import type { Environment } from '#settings/declaration.ts';

/** Travels in a runner's order. */
export interface NetworkOrder {
  /** For git, tools, hooks and tasks: proxies, and where certificates are. */
  readonly environment: Readonly<Record<string, string>>;
  /** All certificates that count, in one file; absent: those of the machine. */
  readonly caFile?: string;
}

/** Names under which programs look for a file that replaces the machine's own certificates. */
const certificateNames = [
  'SSL_CERT_FILE',
  'GIT_SSL_CAINFO',
  'CURL_CA_BUNDLE',
  'REQUESTS_CA_BUNDLE',
  'AWS_CA_BUNDLE',
  'NODE_EXTRA_CA_CERTS',
] as const;

export interface PreparedNetwork {
  readonly order: NetworkOrder;
  /** What must appear in no log. */
  readonly secrets: readonly string[];
}

/**
 * Reads proxies and certificates, makes this process use them, and writes the file of certificates that runs
 * read.
 * @param caFile the setting's value
 * @param environment the agent's own
 * @param workFolder every run may pass it
 * @throws SettingsError that names what is malformed
 */
export function prepareNetwork(
  caFile: string | undefined,
  environment: Environment,
  workFolder: string,
): PreparedNetwork {
  const proxies = proxyEnvironment(environment);
  const own = caFile === undefined ? [] : readCertificates(caFile, 'ENVARIUM_CA_FILE');
  const all = own.length === 0 ? [] : trustedCertificates(own);
  useNetwork(all, proxies);
  const secrets = proxySecrets(proxies);
  if (all.length === 0) return { order: { environment: proxies }, secrets };
  const bundle = join(workFolder, '.ca-certificates.pem');
  writeFileSync(`${bundle}.new`, `${all.join('\n')}\n`, { mode: 0o644 });
  // Readable to runs whatever the agent's umask says.
  chmodSync(`${bundle}.new`, 0o644);
  renameSync(`${bundle}.new`, bundle);
  const places = Object.fromEntries(certificateNames.map((name) => [name, bundle]));
  return { order: { environment: { ...proxies, ...places }, caFile: bundle }, secrets };
}

/** Makes a runner use what its agent uses. */
export function useNetworkOrder({ environment, caFile }: NetworkOrder): void {
  const proxies = Object.fromEntries(Object.entries(environment).filter(([name]) => /_proxy$/i.test(name)));
  useNetwork(caFile === undefined ? [] : [readFileSync(caFile, 'utf8')], proxies);
}
