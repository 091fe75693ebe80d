/** The state file of terraform and OpenTofu, version 4, as far as the service reads it. */
import { isRecord } from '#contract/schema/is-record.ts';
import { outlineJson } from '#guards/json-bytes.ts';
import type { StateFacts, StateFormat } from './tool.ts';

interface TerraformStateFields {
  version?: unknown;
  serial?: unknown;
  lineage?: unknown;
  terraform_version?: unknown;
  encrypted_data?: unknown;
  outputs?: unknown;
  resources?: unknown;
}

/**
 * Form of OpenTofu's state where the code has an `encryption` block; serial and lineage stay
 * readable.
 */
function isEncrypted(file: TerraformStateFields): boolean {
  return typeof file.encrypted_data === 'string';
}

function factsOf(file: TerraformStateFields & { serial: number; lineage: string }): StateFacts {
  if (isEncrypted(file))
    return {
      serial: file.serial,
      lineage: file.lineage,
      resourceCount: null,
      isSerialSealed: true,
      toolVersion: null,
    };
  const resources = (file.resources ?? []) as { mode?: string; instances?: unknown[] }[];
  const managed = resources.filter((resource) => resource.mode === 'managed');
  return {
    serial: file.serial,
    lineage: file.lineage,
    resourceCount: managed.reduce((sum, resource) => sum + (resource.instances?.length ?? 0), 0),
    toolVersion: isStorable(file.terraform_version) ? file.terraform_version : null,
  };
}

/** Of an instance, only its place is known: the attributes of all of them can be large. */
function parse(bytes: Uint8Array, decoder: TextDecoder): unknown {
  // The file, its resources, a resource, its instances.
  const levels = 4;
  return outlineJson(bytes, { levels, decode: (part) => decoder.decode(part), checksParts: true }).value;
}

function read(bytes: Uint8Array): StateFacts {
  const file = parse(bytes, new TextDecoder()) as TerraformStateFields;
  if (
    (file.version !== 4 && !isEncrypted(file)) ||
    typeof file.serial !== 'number' ||
    !isStorable(file.lineage)
  )
    throw new Error('it is not a state of version 4 with serial and lineage');
  return factsOf({ ...file, serial: file.serial, lineage: file.lineage });
}

/** Whether the database takes it: a tool writes neither a NUL character nor half of a character. */
function isStorable(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0') && value.isWellFormed();
}

function resourcesProblem(resources: unknown): string | null {
  if (!Array.isArray(resources)) return 'resources must be a list';
  for (const [index, resource] of resources.entries() as Iterable<[number, unknown]>) {
    const isWhole =
      isRecord(resource) &&
      (resource['mode'] === 'managed' || resource['mode'] === 'data') &&
      typeof resource['type'] === 'string' &&
      typeof resource['name'] === 'string' &&
      Array.isArray(resource['instances']) &&
      resource['instances'].every(isRecord);
    if (!isWhole)
      return `resources[${index}] must be an object with mode managed or data, type, name and a list of instances`;
  }
  return null;
}

function problemOf(file: unknown): string | null {
  if (!isRecord(file)) return 'it is not a JSON object';
  const { version, serial, lineage, outputs, resources } = file as TerraformStateFields;
  if (version !== 4 && !isEncrypted(file)) {
    const seen = version === undefined ? 'has no version' : `is of version ${JSON.stringify(version)}`;
    return `it ${seen}; only version 4 is accepted, which terraform has written since 0.12`;
  }
  if (!Number.isSafeInteger(serial) || (serial as number) < 0)
    return 'serial must be a whole number of 0 or more';
  if (!isStorable(lineage) || lineage === '') return 'lineage must be a non-empty string';
  if (outputs !== undefined && !isRecord(outputs)) return 'outputs must be an object';
  return resources === undefined ? null : resourcesProblem(resources);
}

function check(bytes: Uint8Array): StateFacts {
  if (bytes.length === 0) throw new Error('it is empty');
  let file: unknown;
  try {
    file = parse(bytes, new TextDecoder('utf-8', { fatal: true }));
  } catch (error) {
    throw new Error(`it is damaged or truncated: ${(error as Error).message}`, { cause: error });
  }
  const problem = problemOf(file);
  if (problem !== null) throw new Error(problem);
  return factsOf(file as TerraformStateFields & { serial: number; lineage: string });
}

export const terraformState: StateFormat = { read, check };
