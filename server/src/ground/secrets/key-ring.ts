/**
 * The keys that everything sealed depends on: a file apart from the database. The first key seals, every key
 * opens.
 */
import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '#guards/make-folders.ts';
import type { ServerSettings } from '../config/config.ts';

export interface SealingKey {
  /** Four bytes, at the start of everything that the key sealed. */
  readonly id: Buffer;
  readonly key: KeyObject;
}

export interface KeyRing {
  readonly file: string;
  readonly keys: readonly [SealingKey, ...SealingKey[]];
}

const linePattern = /^([0-9a-f]{8}) ([A-Za-z0-9+/]{43}=)$/;
/** Write by the group, anything by others. A group may read: that is how orchestrators mount secrets. */
const forbiddenModeBits = 0o027;

/**
 * Reads the key file, or makes it for a new installation.
 * @param settings `sealingKeyFile`, or else `sealing.key` in `dataFolder`
 * @param isNewInstallation true when nothing can have been sealed yet
 * @throws Error that names the file: missing though things were sealed, readable by others, or malformed
 */
export function loadSealingKey(
  settings: Pick<ServerSettings, 'sealingKeyFile' | 'dataFolder'>,
  isNewInstallation: boolean,
): KeyRing {
  const file = settings.sealingKeyFile ?? join(settings.dataFolder, 'sealing.key');
  if (!existsSync(file)) {
    if (!isNewInstallation) {
      throw new Error(
        `The sealing key file ${file} does not exist, but the database contains data sealed with it. Restore the file, or specify its path in ENVARIUM_SEALING_KEY_FILE.`,
      );
    }
    writeNewKey(file);
  }
  if ((statSync(file).mode & forbiddenModeBits) !== 0) {
    throw new Error(
      `The sealing key file ${file} can be read or changed by other users. Set its mode to 0600.`,
    );
  }
  return { file, keys: parseKeys(file, readFileSync(file, 'utf8')) };
}

/** A key for one purpose: the key of the ring itself is never used directly. */
export function deriveKey(key: SealingKey, purpose: string, salt: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.from(hkdfSync('sha256', key.key, salt, `envarium ${purpose}`, 32));
}

function parseKeys(file: string, content: string): KeyRing['keys'] {
  const lines = content.split('\n').map((line) => line.trim());
  const keys = lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, id, key] = linePattern.exec(line) ?? [];
      if (id === undefined || key === undefined)
        throw new Error(
          `The sealing key file ${file} is malformed: each line is a key's id (8 hexadecimal digits), a space and 32 bytes in base64.`,
        );
      return { id: Buffer.from(id, 'hex'), key: createSecretKey(Buffer.from(key, 'base64')) };
    });
  const [first, ...others] = keys;
  if (first === undefined) throw new Error(`The sealing key file ${file} contains no key.`);
  if (new Set(keys.map((key) => key.id.toString('hex'))).size < keys.length)
    throw new Error(`The sealing key file ${file} has the same key id twice.`);
  return [first, ...others];
}

/** Linked into place, not renamed: a file that another process made in the meantime is never overwritten. */
function writeNewKey(file: string): void {
  makeFolder(file);
  const unfinished = `${file}.${randomBytes(6).toString('hex')}`;
  const descriptor = openSync(unfinished, 'wx', 0o600);
  try {
    writeSync(
      descriptor,
      [
        '# Secrets, states and plans of this Envarium installation are sealed with the first key; every key here opens.',
        '# Keep a copy of this file, apart from the copies of the database: without it nothing sealed can be read.',
        `${randomBytes(4).toString('hex')} ${randomBytes(32).toString('base64')}`,
        '',
      ].join('\n'),
    );
    fsyncSync(descriptor);
    linkSync(unfinished, file);
  } finally {
    closeSync(descriptor);
    rmSync(unfinished, { force: true });
  }
  fsyncFolder(dirname(file));
}

function makeFolder(file: string): void {
  try {
    makeFolders(dirname(file), 0o700);
  } catch (error) {
    throw new Error(`The folder of the sealing key file ${file} cannot be created.`, { cause: error });
  }
}

function fsyncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
