/**
 * The state of a stack. Pulumi keeps it as a checkpoint; the service stores what `pulumi stack export` would print,
 * with a serial and a lineage, so that `pulumi stack import` reads it.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { parseExactly, typeOfJson } from '#contract/schema/exact-json.ts';
import { isRecord } from '#contract/schema/is-record.ts';
import type { Job } from '#protocol/messages/job.ts';
import { deploymentVersion, hasSecret, isManagedType } from '#protocol/tools/pulumi/state.ts';
import { type StateReading, TornState } from '../interface/driver.ts';
import type { SeveralFiles } from '../interface/state-places.ts';
import { packageOf, urnParts } from './events.ts';

interface StoredResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly delete?: boolean;
  readonly retainOnDelete?: boolean;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

export interface PendingOperation {
  readonly type: string;
  readonly resource: { readonly urn: string; readonly type: string };
}

export interface StackDeployment {
  readonly manifest?: unknown;
  readonly resources?: readonly StoredResource[];
  readonly pending_operations?: readonly PendingOperation[];
  readonly secrets_providers?: { readonly state?: { readonly salt?: unknown } };
}

/** Stored form. */
interface StoredState {
  readonly version: number;
  readonly serial: number;
  readonly lineage: string;
  readonly stack: string;
  readonly deployment: StackDeployment;
}

/** Messages of Pulumi while it works. */
interface Checkpoint {
  readonly version: number;
  readonly checkpoint: { readonly stack: string; readonly latest?: StackDeployment | null };
}

function parse(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseExactly(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new TornState('the state is incomplete', { cause: error });
  }
  if (!isRecord(value)) throw new TornState('the state must be an object');
  return value;
}

/** @throws TornState unless it is one; a run can write anything to its checkpoint */
function checkDeployment(deployment: unknown): void {
  if (!isRecord(deployment)) throw new TornState('the deployment must be an object');
  const { resources = [] } = deployment;
  if (!Array.isArray(resources)) throw new TornState('the resources must be a list');
  for (const each of resources as unknown[])
    if (!isRecord(each) || typeof each['urn'] !== 'string' || typeof each['type'] !== 'string')
      throw new TornState('a resource has no urn or type');
}

function parseStored(bytes: Uint8Array): StoredState {
  const state = parse(bytes);
  const { version, serial, lineage, deployment } = state;
  if (version !== deploymentVersion)
    throw new Error(`the state has version ${String(version)}; only ${deploymentVersion} can be read`);
  if (!Number.isSafeInteger(serial) || typeof lineage !== 'string' || !isRecord(deployment))
    throw new TornState('the state has no serial, lineage or deployment');
  checkDeployment(deployment);
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
  checkDeployment(checkpoint['latest'] ?? {});
  return file as unknown as Checkpoint;
}

/** The manifest has the time at which it was written. */
function hashOf({ manifest, ...content }: StackDeployment): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

function outputsOf(resources: readonly StoredResource[]): StateReading['outputs'] {
  const stack = resources.find(({ type }) => type === 'pulumi:pulumi:Stack');
  return Object.fromEntries(
    Object.entries(stack?.outputs ?? {}).map(([name, value]) => {
      const isSecret = hasSecret(value);
      // Encrypted: `pulumi stack output` reads it.
      return [name, { value: isSecret ? null : value, sensitive: isSecret, type: typeOfJson(value) }];
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
        // Resources left by a replacement still exist.
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
  const { stack } = checkpoint;
  const deployment = checkpoint.latest ?? {};
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

/** Stack of a state. */
interface StackIdentity {
  readonly project: string;
  /** Undefined: the state has no resource that says so. */
  readonly stack: string | undefined;
}

/** Of what a person has imported, only resources name the project. */
function identityOf({ deployment, stack }: StoredState): StackIdentity {
  const [first] = deployment.resources ?? [];
  if (first !== undefined)
    return { project: urnParts(first.urn).project, stack: /^urn:pulumi:(.*?)::/.exec(first.urn)?.[1] };
  const known: unknown = stack;
  return { project: (typeof known === 'string' && known.split('/').at(-2)) || '', stack: undefined };
}

/**
 * Pulumi would find nothing of a state of another project, and would create everything again.
 * @param state that the service stores; undefined: none
 * @returns whether it is the state of the stack; false: the stack has to be created
 * @throws an Error with a message for people if it has resources of another one
 */
export function isStateOf(
  state: Uint8Array | undefined,
  code: { readonly project: string; readonly file: string; readonly stack: string },
): boolean {
  const stored = state === undefined ? null : parseStored(state);
  if (stored === null) return false;
  const { project, stack } = identityOf(stored);
  if ((stored.deployment.resources ?? []).length === 0) return project === code.project;
  if (project !== code.project)
    throw new Error(
      `the state belongs to the project ${JSON.stringify(project)}, and ${code.file} names ${JSON.stringify(code.project)}: ` +
        'change the name back, or destroy the environment with its old name first',
    );
  if (stack !== undefined && stack !== code.stack)
    throw new Error(
      `the state belongs to the stack ${JSON.stringify(stack)}, and that of the environment is ${JSON.stringify(code.stack)}: ` +
        `before you export a state that you import here, rename its stack with "pulumi stack rename ${code.stack}"`,
    );
  return true;
}

/**
 * The checkpoint of a stored state.
 * @param name of the stack
 * @returns its path in the folder of the backend, and its content; null: the state says of nothing whose it is
 */
function toCheckpoint(stored: Uint8Array, name: string): { path: string; content: Uint8Array } | null {
  const state = parseStored(stored);
  const { project } = identityOf(state);
  const { deployment } = state;
  if (project === '' && (deployment.resources ?? []).length === 0) return null;
  const checkpoint: Checkpoint = {
    version: deploymentVersion,
    checkpoint: { stack: `organization/${project}/${name}`, latest: deployment },
  };
  if (!/^[A-Za-z0-9_.-]+$/.test(project) || /^\.+$/.test(project))
    throw new Error('the state does not say which project it belongs to');
  return { path: checkpointPath(project, name), content: Buffer.from(JSON.stringify(checkpoint)) };
}

/** Folder where the backend keeps the checkpoints of stacks, in a folder for each project. */
export const stacksFolder = '.pulumi/stacks';

function checkpointPath(project: string, stack: string): string {
  return `${stacksFolder}/${project}/${stack}.json`;
}

function hasResources(checkpoint: Uint8Array): boolean {
  return (parseCheckpoint(checkpoint).checkpoint.latest?.resources ?? []).length > 0;
}

/**
 * The checkpoint of the run's own stack: a program can make stacks of the same name in other projects.
 * @param project of the code; null: unknown
 */
function ownCheckpoint(
  files: ReadonlyMap<string, Uint8Array>,
  { project, stack, before }: { project: string | null; stack: string; before: Uint8Array | null },
): Uint8Array | undefined {
  if (project !== null) return files.get(checkpointPath(project, stack));
  const known = before === null ? null : parseStored(before);
  const isOld = known !== null && (known.deployment.resources ?? []).length > 0;
  if (isOld) return files.get(checkpointPath(identityOf(known).project, stack));
  const all = [...files.values()];
  return all.find(hasResources) ?? all[0];
}

/**
 * The checkpoint of a run's stack, among the backend's backups, histories and locks.
 * @param project of the code; null: unknown
 */
export function checkpointFiles(
  { workspaceName, environmentId }: Pick<Job, 'workspaceName' | 'environmentId'>,
  project: string | null,
): SeveralFiles {
  const isPart = (path: string) =>
    path.startsWith(stacksFolder) && basename(path) === `${workspaceName}.json`;
  return {
    isPart,
    folders: async (list) => (await list(stacksFolder)).map((name) => `${stacksFolder}/${name}`),
    split(stored) {
      const checkpoint = toCheckpoint(stored, workspaceName);
      return new Map(checkpoint === null ? [] : [[checkpoint.path, checkpoint.content]]);
    },
    join(files, before) {
      const content = ownCheckpoint(files, { project, stack: workspaceName, before });
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

/** The URNs of resources that Pulumi leaves as they are where it would delete them, in what `pulumi stack export` has printed. */
export function retainedUrns(exported: Uint8Array | undefined): ReadonlySet<string> {
  const resources = deploymentOf(exported)?.resources ?? [];
  checkDeployment({ resources });
  const retained = resources.filter((each) => each.retainOnDelete === true && each.delete !== true);
  // Resources left by a replacement are deleted under the same URN.
  const pending = resources.filter((each) => each.delete === true && each.retainOnDelete !== true);
  const deleted = new Set(pending.map(({ urn }) => urn));
  return new Set(retained.map(({ urn }) => urn).filter((urn) => !deleted.has(urn)));
}

/** Encryption of the secrets of a stack, in the output of `pulumi stack export`; undefined: not a passphrase. */
export function saltOf(exported: Uint8Array | undefined): string | undefined {
  const salt = deploymentOf(exported)?.secrets_providers?.state?.salt;
  return typeof salt === 'string' ? salt : undefined;
}

/** The same export without its unfinished operations. */
export function withoutPending(exported: Uint8Array): string {
  const { deployment, ...rest } = parse(exported);
  const { pending_operations, ...content } = deployment as StackDeployment;
  return JSON.stringify({ ...rest, deployment: content });
}

function deploymentOf(exported: Uint8Array | undefined): StackDeployment | undefined {
  if (exported === undefined) return undefined;
  const { deployment } = parse(exported);
  return isRecord(deployment) ? (deployment as StackDeployment) : undefined;
}
