/**
 * Hashes of passwords: argon2id with the parameters that OWASP recommends (19 MiB, 2 passes, 1 lane), outside
 * of the event loop, and only a few at once: a crowd that signs in cannot occupy the machine.
 */
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import fastq from 'fastq';
import { Refusal } from '../../ground/errors.ts';

const parameters = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const saltBytes = 16;
const hashBytes = 32;
/** Of the four threads that Node has for such work, also for files and names of hosts. */
const mostAtOnce = 2;
/** About five seconds of work. */
const mostWaiting = 200;

const hashes = fastq.promise((task: Argon2Parameters) => promisify(argon2)('argon2id', task), mostAtOnce);

/** Different keyboards and systems write one text in several ways. */
function messageOf(password: string): Buffer {
  return Buffer.from(password.normalize('NFKC'));
}

async function digest(password: string, task: Omit<Argon2Parameters, 'message'>): Promise<Buffer> {
  if (hashes.length() >= mostWaiting)
    throw new Refusal(
      'unavailable',
      'Too many people are signing in at the moment: try again in some seconds',
    );
  return hashes.push({ ...task, message: messageOf(password) });
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');

/** @returns the hash in the PHC format, with its salt and parameters */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(saltBytes);
  const hash = await digest(password, { ...parameters, nonce, tagLength: hashBytes });
  const { memory, passes, parallelism } = parameters;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(hash)}`;
}

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * In the same time for all callers: without a hash to compare with, one is made all the same.
 * @param stored as `hashPassword` made it; null: there is no such account, or it has no password
 */
export async function matchesPassword(password: string, stored: string | null): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', hash = ''] = phc.exec(stored ?? '') ?? [];
  if (memory === undefined) {
    await digest(password, { ...parameters, nonce: Buffer.alloc(saltBytes), tagLength: hashBytes });
    return false;
  }
  const expected = Buffer.from(hash, 'base64');
  const found = await digest(password, {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    nonce: Buffer.from(salt, 'base64'),
    tagLength: expected.length,
  });
  return timingSafeEqual(found, expected);
}
