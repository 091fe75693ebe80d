import { createHash } from 'node:crypto';
import type { Resource } from '#contract/deployments/plan.ts';
import { parseExactly } from '#contract/schema/exact-json.ts';
import { canonicalJson } from '../interface/canonical-json.ts';
import { type StateReading, TornState } from '../interface/driver.ts';

interface TerraformStateFile {
  readonly version: number;
  readonly serial: number;
  readonly lineage: string;
  readonly outputs?: Readonly<Record<string, { value: unknown; type: unknown; sensitive?: boolean }>>;
  readonly resources?: readonly StateResource[] | null;
}

/**
 * The form that OpenTofu writes if the code has an `encryption` block for its state; serial and lineage
 * remain readable.
 */
interface EncryptedFile {
  readonly serial: number;
  readonly lineage: string;
  readonly encrypted_data: string;
}

interface StateResource {
  readonly module?: string;
  readonly mode: 'managed' | 'data';
  readonly type: string;
  readonly name: string;
  /**
   * `provider["registry.terraform.io/hashicorp/aws"].alias`, prefixed with the module's address if the module
   * configures it.
   */
  readonly provider: string;
  readonly instances?: readonly StateInstance[];
}

interface StateInstance {
  readonly index_key?: string | number;
  readonly deposed?: string;
  readonly attributes?: { readonly id?: unknown } | null;
}

function parse(bytes: Uint8Array): TerraformStateFile | EncryptedFile {
  let state: TerraformStateFile & Partial<EncryptedFile>;
  try {
    state = parseExactly(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as TerraformStateFile;
  } catch (error) {
    throw new TornState('the state file is incomplete', { cause: error });
  }
  if (isEncrypted(state)) return state;
  if (typeof state !== 'object' || state === null || typeof state.version !== 'number')
    throw new TornState('the state file has no format version');
  if (state.version !== 4)
    throw new Error(`the state file has format ${state.version}; only format 4 can be read`);
  if (!Number.isSafeInteger(state.serial) || typeof state.lineage !== 'string')
    throw new TornState('the state file has no serial or lineage');
  return state;
}

function isEncrypted(state: unknown): state is EncryptedFile {
  if (typeof state !== 'object' || state === null || !('encrypted_data' in state)) return false;
  const { serial, lineage, encrypted_data: data } = state as Partial<EncryptedFile>;
  return typeof data === 'string' && Number.isSafeInteger(serial) && typeof lineage === 'string';
}

/** The last part of a provider's source address: `aws`. */
function providerName(reference: string): string {
  const source = /provider\["([^"]*)"\]/.exec(reference)?.[1] ?? reference;
  return source.split('/').at(-1) ?? source;
}

function rowsOf(resource: StateResource): Resource[] {
  return (resource.instances ?? []).map(({ index_key, deposed }) => {
    const index = index_key === undefined ? '' : `[${JSON.stringify(index_key)}]`;
    // A deposed object still exists in the cloud and must be counted.
    const name = `${resource.name}${index}${deposed === undefined ? '' : ` (deposed ${deposed})`}`;
    return {
      provider: providerName(resource.provider),
      type: resource.type,
      name,
      moduleName: resource.module ?? '',
    };
  });
}

function idOf({ attributes }: StateInstance): string | undefined {
  return typeof attributes?.id === 'string' ? attributes.id : undefined;
}

function hashOf(state: TerraformStateFile): string {
  const { serial, lineage, terraform_version, check_results, ...content } = state as TerraformStateFile &
    Record<string, unknown>;
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}

/**
 * Reads a state file of format 4, or the readable part of an encrypted one.
 * @returns one row per managed instance; `hash` covers the content, not serial, lineage, writer or check
 * results
 * @throws TornState if the bytes are empty or incomplete; an Error for another format
 */
export function readTerraformState(bytes: Uint8Array): StateReading {
  const state = parse(bytes);
  if (isEncrypted(state)) {
    const hash = createHash('sha256').update(state.encrypted_data).digest('hex');
    return {
      serial: state.serial,
      lineage: state.lineage,
      outputs: {},
      resources: [],
      ids: [],
      resourceCount: 0,
      hash,
      isEncrypted: true,
    };
  }
  const outputs = Object.entries(state.outputs ?? {}).map(
    ([name, { value, type, sensitive }]) => [name, { value, type, sensitive: sensitive ?? false }] as const,
  );
  const managed = (state.resources ?? []).filter((resource) => resource.mode === 'managed');
  const resources = managed.flatMap(rowsOf);
  return {
    serial: state.serial,
    lineage: state.lineage,
    outputs: Object.fromEntries(outputs),
    resources,
    ids: managed.flatMap(({ instances = [] }) => instances.map(idOf)),
    resourceCount: resources.length,
    hash: hashOf(state),
  };
}
