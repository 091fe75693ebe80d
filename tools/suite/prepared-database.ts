/** The database folder that most services of acceptance tests begin with: a copy takes a tenth of creating one. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Holds the path of an unused folder of PostgreSQL, for the test processes of one run. */
export const preparedDatabaseVariable = 'TEST_PREPARED_DATABASE';

/**
 * Puts a copy of the run's prepared database where a service will have its data folder. Does nothing where the folder
 * exists, or the run has prepared none: then the service creates its database itself.
 * @param dataFolder absolute path
 */
export async function copyPreparedDatabase(dataFolder: string): Promise<void> {
  const prepared = process.env[preparedDatabaseVariable];
  if (!prepared || existsSync(dataFolder)) return;
  const place = join(dataFolder, 'postgresql');
  // As the service would make them.
  for (const folder of [dataFolder, place]) await mkdir(folder, { mode: 0o711 });
  const config = join(place, 'config');
  await mkdir(config, { mode: 0o755 });
  // No test ends the machine; the end of a service would wait a second for the disk.
  await writeFile(join(config, 'custom.conf'), 'fsync = off\n', { mode: 0o644 });
  await promisify(execFile)('cp', ['--archive', '--', prepared, join(place, 'data')]);
}
