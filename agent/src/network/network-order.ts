/**
 * The network settings that runs need: they start with an empty environment, so that these are passed
 * deliberately.
 */
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessEnvironment } from '#settings/declaration.ts';
import {
  proxyEnvironment,
  proxySecrets,
  readCertificates,
  trustedCertificates,
  useNetwork,
} from '#settings/network.ts';

/** Part of a runner's order. */
export interface NetworkOrder {
  /** For git, tools, hooks and tasks: proxies, and the location of certificates. */
  readonly environment: Readonly<Record<string, string>>;
  /** All trusted certificates, in one file; absent: those of the machine. */
  readonly caFile?: string;
}

/** Variables that name a file to replace the machine's own certificates. */
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
  /** Values that must not appear in any log. */
  readonly secrets: readonly string[];
}

/**
 * Reads proxies and certificates, makes this process use them, and writes the file of certificates that runs
 * read.
 * @param caFile the setting's value
 * @param environment the agent's own
 * @param workFolder every run may traverse it
 * @throws SettingsError that names what is malformed
 */
export function prepareNetwork(
  caFile: string | undefined,
  environment: ProcessEnvironment,
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
  // Readable by runs whatever the agent's umask is.
  chmodSync(`${bundle}.new`, 0o644);
  renameSync(`${bundle}.new`, bundle);
  const places = Object.fromEntries(certificateNames.map((name) => [name, bundle]));
  return { order: { environment: { ...proxies, ...places }, caFile: bundle }, secrets };
}

/** Makes a runner use the network settings of its agent. */
export function useNetworkOrder({ environment, caFile }: NetworkOrder): void {
  const proxies = Object.fromEntries(Object.entries(environment).filter(([name]) => /_proxy$/i.test(name)));
  useNetwork(caFile === undefined ? [] : [readFileSync(caFile, 'utf8')], proxies);
}
