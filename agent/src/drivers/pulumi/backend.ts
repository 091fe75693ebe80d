/** Place of the state of a stack, and the encryption of its secrets. */
import { createCipheriv, createHash, pbkdf2, randomBytes } from 'node:crypto';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import {
  backendVariables,
  passphraseFileVariable,
  passphraseVariable,
} from '#protocol/tools/pulumi/variables.ts';
import type { TreeReader } from '../interface/capabilities.ts';
import type { DriverContext } from '../interface/driver.ts';
import { readProject } from './project.ts';

/** The name of what the user's own variables or code name as the backend; null: nothing. */
async function ownBackend({ job, tree }: Pick<DriverContext, 'job' | 'tree'>): Promise<string | null> {
  const environment = runEnvironment(job);
  const variable = backendVariables.find((name) => environment[name]);
  if (variable !== undefined) return variable;
  const { file, backend } = await readProject(tree);
  return backend === undefined ? null : `backend.url of ${file}`;
}

/** The service keeps the state of every stack without a backend of its own. */
export async function isOurs(context: Pick<DriverContext, 'job' | 'tree'>): Promise<boolean> {
  const own = await ownBackend(context);
  if (own !== null && context.job.state.isForced)
    throw new Error(
      `isRemoteBackend is true, but ${own} names another backend: remove one of them, so that it is clear who keeps the state`,
    );
  return own === null;
}

/** The variables that put the state into the folder of the service. */
export function backendEnvironment({ stateFolder }: DriverContext): Record<string, string> {
  if (stateFolder === null) return {};
  return {
    PULUMI_BACKEND_URL: pathToFileURL(stateFolder).href,
    // The service has all versions of the state.
    PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS: 'true',
  };
}

/**
 * The passphrase of a stack whose state the service keeps.
 * @throws an Error that names the variable if there is none
 */
export async function passphraseOf(job: Job, tree: TreeReader): Promise<string> {
  const environment = runEnvironment(job);
  const passphrase = environment[passphraseVariable];
  if (passphrase !== undefined && passphrase !== '') return passphrase;
  const file = environment[passphraseFileVariable];
  if (file === undefined || file === '')
    throw new Error(`${passphraseVariable} is needed: the secrets of the stack are encrypted with it`);
  const text = isAbsolute(file) ? null : await tree.text(file);
  if (text === null)
    throw new Error(
      `${passphraseFileVariable} must be the path of a file in the folder of the project; or set ${passphraseVariable}`,
    );
  return text.trim();
}

const derive = promisify(pbkdf2);
const [iterations, keyBytes, saltBytes, nonceBytes] = [1_000_000, 32, 8, 12];

/**
 * The `encryptionsalt` of a stack that has no state yet, in the form of Pulumi. An apply on another machine begins
 * with the same one as its plan, so that it can read what the plan has encrypted.
 */
export async function encryptionSalt(environmentId: string, passphrase: string): Promise<string> {
  const salt = createHash('sha256').update(`pulumi ${environmentId}`).digest().subarray(0, saltBytes);
  const key = await derive(passphrase, salt, iterations, keyBytes, 'sha256');
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update('pulumi'), cipher.final(), cipher.getAuthTag()]);
  return `v1:${salt.toString('base64')}:v1:${nonce.toString('base64')}:${sealed.toString('base64')}`;
}

/** Folder of the tool's own files during a phase. */
export function homeOf({ temporaryFolder }: Pick<DriverContext, 'temporaryFolder'>): string {
  return join(temporaryFolder, 'pulumi-home');
}
