/**
 * The state of a stack. Pulumi keeps it as a checkpoint; the service stores what `pulumi stack export` would print,
 * with a serial and a lineage, so that `pulumi stack import` reads it.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isRecord } from '#contract/schema/is-record.ts';
import type { Job } from '#protocol/messages/job.ts';
import { deploymentVersion, hasSecret, isManagedType } from '#protocol/tools/pulumi/state.ts';
import { type StateReading, TornState } from '../driver.ts';
import type { SeveralFiles } from '../state-places.ts';
import { packageOf, urnParts } from './events.ts';

interface StoredResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly delete?: boolean;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

export interface PendingOperation {
  readonly type: string;
  readonly resource: { readonly urn: string; readonly type: string };
}

export interface Deployment {
  readonly manifest?: unknown;
  readonly resources?: readonly StoredResource[];
  readonly pending_operations?: readonly PendingOperation[];
  readonly secrets_providers?: { readonly state?: { readonly salt?: unknown } };
}

/** What the service stores. */
interface StoredState {
  readonly version: number;
  readonly serial: number;
  readonly lineage: string;
  readonly stack: string;
  readonly deployment: Deployment;
}

/** What Pulumi writes while it works. */
interface Checkpoint {
  readonly version: number;
  readonly checkpoint: { readonly stack: string; readonly latest?: Deployment };
}

function parse(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new TornState('the state is incomplete', { cause: error });
  }
  if (!isRecord(value)) throw new TornState('the state must be an object');
  return value;
}

function parseStored(bytes: Uint8Array): StoredState {
  const state = parse(bytes);
  const { version, serial, lineage, deployment } = state;
  if (version !== deploymentVersion)
    throw new Error(`the state has version ${String(version)}; only ${deploymentVersion} can be read`);
  if (!Number.isSafeInteger(serial) || typeof lineage !== 'string' || !isRecord(deployment))
    throw new TornState('the state has no serial, lineage or deployment');
  return state as unknown as StoredState;
}

function parseCheckpoint(bytes: Uint8Array): Checkpoint {
  const file = parse(bytes);
  const { checkpoint } = file;
  if (
    file['version'] !== deploymentVersion ||
    !isRecord(checkpoint) ||
    typeof checkpoint['stack'] !== 'string'
  )
    throw new TornState('the checkpoint has no stack');
  return file as unknown as Checkpoint;
}

/** The manifest has the time at which it was written. */
function hashOf({ manifest, ...content }: Deployment): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function outputsOf(resources: readonly StoredResource[]): StateReading['outputs'] {
  const stack = resources.find(({ type }) => type === 'pulumi:pulumi:Stack');
  return Object.fromEntries(
    Object.entries(stack?.outputs ?? {}).map(([name, value]) => {
      const isSecret = hasSecret(value);
      // Encrypted: `pulumi stack output` reads it.
      return [name, { value: isSecret ? null : value, sensitive: isSecret, type: typeof value }];
    }),
  );
}

/**
 * Reads a state that the service stores.
 * @throws TornState if the bytes are empty or incomplete; an Error for another format
 */
export function readState(bytes: Uint8Array): StateReading {
  const { serial, lineage, deployment } = parseStored(bytes);
  const all = deployment.resources ?? [];
  const managed = all.filter(({ type }) => isManagedType(type));
  return {
    serial,
    lineage,
    outputs: outputsOf(all),
    resources: managed.map(({ urn, ...resource }) => {
      const { parents, type, name } = urnParts(urn);
      return {
        provider: packageOf(type),
        type,
        // What a replacement has left still exists.
        name: resource.delete === true ? `${name} (to be deleted)` : name,
        moduleName: parents.filter(isManagedType).join('/'),
      };
    }),
    ids: managed.map(({ id }) => id),
    resourceCount: managed.length,
    hash: hashOf(deployment),
  };
}

/**
 * The state to be stored of a checkpoint.
 * @param before the newest stored state; null: none
 * @param lineage of a state that is the first one
 */
function fromCheckpoint(bytes: Uint8Array, before: Uint8Array | null, lineage: string): Uint8Array {
  const { checkpoint } = parseCheckpoint(bytes);
  const { stack, latest: deployment = {} } = checkpoint;
  const known = before === null ? null : parseStored(before);
  if (before !== null && known !== null && hashOf(known.deployment) === hashOf(deployment)) return before;
  const state: StoredState = {
    version: deploymentVersion,
    serial: known === null ? 1 : known.serial + 1,
    lineage: known?.lineage ?? lineage,
    stack,
    deployment,
  };
  return Buffer.from(JSON.stringify(state));
}

/**
 * The checkpoint of a stored state.
 * @param name of the stack
 * @returns its path in the folder of the backend, and its content
 */
function toCheckpoint(stored: Uint8Array, name: string): { path: string; content: Uint8Array } {
  const { deployment, stack } = parseStored(stored);
  const [first] = deployment.resources ?? [];
  // Of what a person has imported, only resources name the project.
  const project = stack?.split('/').at(-2) ?? (first === undefined ? '' : urnParts(first.urn).project);
  const checkpoint: Checkpoint = {
    version: deploymentVersion,
    checkpoint: { stack: `organization/${project}/${name}`, latest: deployment },
  };
  if (!/^[A-Za-z0-9_.-]+$/.test(project) || /^\.+$/.test(project))
    throw new Error('the state does not say which project it belongs to');
  const path = `${stacksFolder}/${project}/${name}.json`;
  return { path, content: Buffer.from(JSON.stringify(checkpoint)) };
}

/** Where the backend in a folder keeps the checkpoints of stacks, in a folder for each project. */
export const stacksFolder = '.pulumi/stacks';

/** The checkpoint of a run's stack, among the backend's backups, histories and locks. */
export function checkpointFiles({
  workspaceName,
  environmentId,
}: Pick<Job, 'workspaceName' | 'environmentId'>): SeveralFiles {
  const isPart = (path: string) =>
    path.startsWith(stacksFolder) && basename(path) === `${workspaceName}.json`;
  return {
    isPart,
    folders: async (list) => (await list(stacksFolder)).map((project) => `${stacksFolder}/${project}`),
    split(stored) {
      const { path, content } = toCheckpoint(stored, workspaceName);
      return new Map([[path, content]]);
    },
    join(files, before) {
      const [content] = files.values();
      if (content === undefined) throw new TornState('there is no checkpoint');
      return fromCheckpoint(content, before, environmentId);
    },
    check: (file) => void parseCheckpoint(file),
    rescued: async () => [],
    keeps: () => true,
  };
}

/** The operations that a run has begun and not ended, in what `pulumi stack export` has printed. */
export function pendingOperations(exported: Uint8Array | undefined): readonly PendingOperation[] {
  const pending = deploymentOf(exported)?.pending_operations;
  return Array.isArray(pending) ? pending : [];
}

/** What the secrets of a stack are encrypted with, in what `pulumi stack export` has printed; undefined: not a passphrase. */
export function saltOf(exported: Uint8Array | undefined): string | undefined {
  const salt = deploymentOf(exported)?.secrets_providers?.state?.salt;
  return typeof salt === 'string' ? salt : undefined;
}

/** The same export without its unfinished operations. */
export function withoutPending(exported: Uint8Array): string {
  const { deployment, ...rest } = parse(exported);
  const { pending_operations, ...content } = deployment as Deployment;
  return JSON.stringify({ ...rest, deployment: content });
}

function deploymentOf(exported: Uint8Array | undefined): Deployment | undefined {
  if (exported === undefined) return undefined;
  const { deployment } = parse(exported);
  return isRecord(deployment) ? (deployment as Deployment) : undefined;
}
