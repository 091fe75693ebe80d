/** Gives the first key to the person who starts the service, once. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Service } from './service.ts';

/** Place where it is shown. */
export interface KeyOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Address for a browser on this machine of a service that listens on all addresses. */
function reachable(address: string): string {
  return address.replace(/^(https?:\/\/)(0\.0\.0\.0|\[::\])(?=[:/]|$)/, '$1localhost').replace(/\/+$/, '');
}

/**
 * Shows the key on a terminal, with the address at which it creates the first account; otherwise writes it into a
 * file that only its owner can read.
 */
export async function handOverFirstKey(
  { firstKey, dataFolder, address }: Pick<Service, 'firstKey' | 'dataFolder' | 'address'>,
  shown: KeyOutput,
): Promise<void> {
  if (!firstKey) return;
  const { id, secret } = firstKey;
  const page = `${reachable(address)}/first-start`;
  const lines = `ENVARIUM_API_KEY=${id}\nENVARIUM_API_SECRET=${secret}\n`;
  if (shown.isTTY) {
    shown.write(`\nThe first admin key, shown only once:\n\n${lines}\n`);
    shown.write(`Create the first account in a browser:\n\n${page}#${id}:${secret}\n\n`);
    return;
  }
  const file = join(dataFolder, 'first-admin-key.env');
  await writeFile(file, lines, { mode: 0o600, flag: 'w' });
  shown.write(`The first admin key is in ${file}; with it, ${page} creates the first account\n`);
}
