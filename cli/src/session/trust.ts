/** Authorities that are trusted beside those of Node and the machine. */
import { readFileSync } from 'node:fs';
import { BadCall } from '../exit-codes.ts';
import type { Environment } from './settings.ts';

/**
 * Trusts the certificates of the file that `ENVARIUM_CA_FILE` names, as service and agent do; to be called
 * before anything is asked.
 * @throws BadCall for a file that cannot be read or holds no certificate
 */
export async function trustAuthorities({ ENVARIUM_CA_FILE: file }: Environment): Promise<void> {
  if (!file) return;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new BadCall(`ENVARIUM_CA_FILE cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const own = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  if (own === null) throw new BadCall(`ENVARIUM_CA_FILE: ${file} holds no certificate in PEM form.`);
  const tls = await import('node:tls');
  // Younger than the oldest Node that runs this program.
  if (typeof tls.setDefaultCACertificates !== 'function')
    throw new BadCall(
      'ENVARIUM_CA_FILE needs Node 22.19 or 24.5: with an older one give the file by NODE_EXTRA_CA_CERTS.',
    );
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), ...own]);
}
