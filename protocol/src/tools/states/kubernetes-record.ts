/** Record of what was applied to a cluster: the service keeps it, because kubectl does not. */
import { isRecord } from '#contract/schema/is-record.ts';
import type { StateFacts, StateFormat } from '../tool.ts';
import { isText, jsonState } from './json-state.ts';

export const recordFormat = { format: 'envarium-kubernetes', version: 1 } as const;

interface RecordFile {
  readonly format?: unknown;
  readonly version?: unknown;
  readonly serial?: unknown;
  readonly lineage?: unknown;
  readonly toolVersion?: unknown;
  readonly objects?: unknown;
}

function objectsProblem(objects: unknown): string | null {
  if (!Array.isArray(objects)) return 'objects must be a list';
  for (const [index, entry] of objects.entries() as Iterable<[number, unknown]>) {
    const object = isRecord(entry) ? entry['object'] : undefined;
    const metadata = isRecord(object) ? object['metadata'] : undefined;
    const isWhole =
      isRecord(entry) &&
      typeof entry['namespace'] === 'string' &&
      isRecord(object) &&
      isText(object['apiVersion']) &&
      isText(object['kind']) &&
      isRecord(metadata) &&
      isText(metadata['name']);
    if (!isWhole)
      return `objects[${index}] must have a namespace, and an object with apiVersion, kind and metadata.name`;
  }
  return null;
}

function problemOf(file: unknown): string | null {
  if (!isRecord(file)) return 'it is not a JSON object';
  const { format, version, serial, lineage, objects } = file as RecordFile;
  if (format !== recordFormat.format) return `its format must be ${recordFormat.format}`;
  if (version !== recordFormat.version) return `only version ${recordFormat.version} is accepted`;
  if (!Number.isSafeInteger(serial) || (serial as number) < 0)
    return 'serial must be a whole number of 0 or more';
  if (!isText(lineage)) return 'lineage must be a non-empty string';
  return objectsProblem(objects);
}

function factsOf(file: RecordFile): StateFacts {
  return {
    serial: file.serial as number,
    lineage: file.lineage as string,
    resourceCount: (file.objects as readonly unknown[]).length,
    toolVersion: isText(file.toolVersion) ? file.toolVersion : null,
  };
}

/** Of an object, only what identifies it is decoded: the file, its objects, an entry, the object, its metadata. */
const levels = 5;

/** The record of what a deployment has applied to a cluster. */
export const kubernetesRecord: StateFormat = jsonState({
  mark: recordFormat.format,
  levels,
  problemOf,
  factsOf,
});
