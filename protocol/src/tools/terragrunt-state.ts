/**
 * The states of all units of a terragrunt run, as one document: the state file of each unit as its tool wrote it, by
 * the unit's path.
 */
import { isRecord } from '#contract/schema/is-record.ts';
import { outlineJson } from '#guards/json-bytes.ts';
import { terraformState } from './terraform-state.ts';
import type { StateFacts, StateFormat } from './tool.ts';

const mark = 'envariumUnits';
const version = 1;

interface UnitsFile {
  readonly [mark]?: unknown;
  readonly serial?: unknown;
  readonly lineage?: unknown;
  readonly elsewhere?: unknown;
  readonly units?: unknown;
}

/** The parts of a document, without a copy of the states. */
export interface UnitStates {
  readonly serial: number;
  readonly lineage: string;
  /** Paths of units whose own backend has their state. */
  readonly elsewhere: readonly string[];
  /** State files by the path of their unit. */
  readonly units: ReadonlyMap<string, Uint8Array>;
}

/** Whether bytes are such a document, or the beginning of one. */
export function areUnitStates(bytes: Uint8Array): boolean {
  const head = new TextDecoder().decode(bytes.subarray(0, 64));
  return head.startsWith(`{"${mark}":`) || isRewritten(bytes);
}

/** A person may have imported one that a tool has formatted, or sorted by name. */
function isRewritten(bytes: Uint8Array): boolean {
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(`"${mark}"`)) return false;
  try {
    const decode = (part: Uint8Array) => new TextDecoder().decode(part);
    const { value } = outlineJson(bytes, { levels: 1, decode, checksParts: false });
    return isRecord(value) && Object.hasOwn(value, mark);
  } catch {
    return false;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0') && value.isWellFormed();
}

function problemOf(file: unknown): string | null {
  if (!isRecord(file)) return 'it is not a JSON object';
  const { [mark]: found, serial, lineage, elsewhere, units } = file as UnitsFile;
  if (found !== version) return `${mark} must be ${version}`;
  if (!Number.isSafeInteger(serial) || (serial as number) < 0)
    return 'serial must be a whole number of 0 or more';
  if (!isText(lineage)) return 'lineage must be a non-empty string';
  if (!Array.isArray(elsewhere) || !elsewhere.every(isText))
    return 'elsewhere must be a list of paths of units';
  return isRecord(units) && Object.keys(units).every(isText)
    ? null
    : 'units must be an object of states by the path of their unit';
}

/**
 * Reads a document.
 * @param decoder of its bytes; throws for what it does not accept
 * @throws Error that says what is wrong
 */
export function readUnitStates(bytes: Uint8Array, decoder = new TextDecoder()): UnitStates {
  const { value, parts } = outlineJson(bytes, {
    // The document and its units.
    levels: 2,
    decode: (part) => decoder.decode(part),
    checksParts: false,
  });
  const problem = problemOf(value);
  if (problem !== null) throw new Error(problem);
  const file = value as { serial: number; lineage: string; elsewhere: string[]; units: object };
  const units = Object.entries(file.units).map(([unit, left]: [string, { part?: number } | null]) => {
    const place = left?.part === undefined ? undefined : parts[left.part];
    if (place === undefined) throw new Error(`units: the state of ${JSON.stringify(unit)} must be an object`);
    return [unit, bytes.subarray(place.start, place.end)] as const;
  });
  const { serial, lineage, elsewhere } = file;
  return { serial, lineage, elsewhere, units: new Map(units) };
}

/** Writes a document: the states are copied as they are. */
export function writeUnitStates({ serial, lineage, elsewhere, units }: UnitStates): Uint8Array {
  const head = JSON.stringify({ [mark]: version, serial, lineage, elsewhere: [...elsewhere].sort() });
  const chunks: Uint8Array[] = [Buffer.from(`${head.slice(0, -1)},"units":{`)];
  const sorted = [...units].sort(([left], [right]) => (left < right ? -1 : 1));
  for (const [index, [unit, state]] of sorted.entries())
    chunks.push(Buffer.from(`${index === 0 ? '' : ','}\n${JSON.stringify(unit)}:`), state);
  chunks.push(Buffer.from('}}\n'));
  return Buffer.concat(chunks);
}

function sumOf(counts: readonly (number | null)[]): number | null {
  return counts.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0);
}

function factsOf(states: UnitStates, read: (bytes: Uint8Array) => StateFacts): StateFacts {
  const facts = [...states.units].map(([unit, bytes]) => {
    try {
      return read(bytes);
    } catch (error) {
      throw new Error(`unit ${JSON.stringify(unit)}: ${(error as Error).message}`, { cause: error });
    }
  });
  const counts = facts.map(({ resourceCount }) => resourceCount);
  return {
    serial: states.serial,
    lineage: states.lineage,
    // The contents of the other units' backends are not known here.
    resourceCount: states.elsewhere.length > 0 ? null : sumOf(counts),
    toolVersion: facts.at(-1)?.toolVersion ?? null,
  };
}

export const unitStates: StateFormat = {
  mark,
  read: (bytes) => factsOf(readUnitStates(bytes), terraformState.read),
  check(bytes) {
    if (bytes.length === 0) throw new Error('it is empty');
    const decoder = new TextDecoder('utf-8', { fatal: true });
    return factsOf(readUnitStates(bytes, decoder), terraformState.check);
  },
};
