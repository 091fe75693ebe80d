/** Brings key file and database together at start, and refuses a key that is not this installation's. */
import type { Kysely } from 'kysely';
import type { ServerSettings } from '../ground/config/config.ts';
import { createKeyHash, type KeyHash } from '../ground/secrets/api-key-hash.ts';
import { type AuditKeys, createAuditKeys } from '../ground/secrets/audit-keys.ts';
import { loadSealingKey } from '../ground/secrets/key-ring.ts';
import { createSealer, SealError, type Sealer } from '../ground/secrets/sealer.ts';
import type { Schema } from '../rows/schema.ts';
import { hasInstallation, putInstallation } from '../rows/secrets/installation-store.ts';

export interface Sealing {
  readonly sealer: Sealer;
  readonly keyHash: KeyHash;
  readonly auditKeys: AuditKeys;
  readonly installationId: string;
}

const checkedText = 'envarium';

/**
 * Loads the sealing key and checks it against the migrated database; the first start makes both.
 * @param newId makes the installation's id
 * @throws Error that names key file and installation: the file is missing, readable by others, or of another
 * installation
 */
export async function prepareSealing(
  db: Kysely<Schema>,
  settings: Pick<ServerSettings, 'sealingKeyFile' | 'dataFolder'>,
  newId: () => string,
): Promise<Sealing> {
  const ring = loadSealingKey(settings, !(await hasInstallation(db)));
  const sealer = createSealer(ring);
  const installationId = await checkSealingKey(db, sealer, ring.file, newId);
  return { sealer, keyHash: createKeyHash(ring), auditKeys: createAuditKeys(ring), installationId };
}

/**
 * Opens the constant that was sealed at the installation's first start; seals it at the first start.
 * @returns the installation's id
 * @throws Error that names key file and installation when it does not open
 */
async function checkSealingKey(
  db: Kysely<Schema>,
  sealer: Sealer,
  keyFile: string,
  newId: () => string,
): Promise<string> {
  const id = newId();
  const installation = await putInstallation(db, {
    id,
    sealing_check: sealer.seal(checkedText, association(id)),
  });
  try {
    sealer.open(installation.sealing_check, association(installation.id));
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new Error(
      `The sealing key in ${keyFile} does not belong to installation ${installation.id}, which owns this database. Specify the right file in ENVARIUM_SEALING_KEY_FILE, or restore it.`,
      { cause: error },
    );
  }
  return installation.id;
}

function association(id: string) {
  return { table: 'installation', row: id, field: 'sealing_check' } as const;
}
