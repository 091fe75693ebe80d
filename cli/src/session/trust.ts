/** Certificate authorities that are trusted in addition to those of Node and the machine. */
import { readFileSync } from 'node:fs';
import { BadCall } from './exit-codes.ts';
import type { CommandEnvironment } from './settings.ts';

/**
 * Trusts the certificates in `ENVARIUM_CA_FILE`, as service and agent do. Call it before the first request.
 * @throws BadCall for a file that cannot be read or contains no certificate
 */
export async function trustAuthorities({ ENVARIUM_CA_FILE: file }: CommandEnvironment): Promise<void> {
  if (!file) return;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new BadCall(`ENVARIUM_CA_FILE cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const own = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (own === null) throw new BadCall(`ENVARIUM_CA_FILE: ${file} contains no certificate in PEM format.`);
  const tls = await import('node:tls');
  // Newer than the oldest Node that runs this program.
  if (typeof tls.setDefaultCACertificates !== 'function')
    throw new BadCall(
      'ENVARIUM_CA_FILE needs Node 22.19 or 24.5: with an older one, name the file in NODE_EXTRA_CA_CERTS.',
    );
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...own]);
}
