/**
 * Reads an attempt's spool folder. Files appear complete under their names, so each is complete or absent.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseExactly } from '#contract/schema/exact-json.ts';
import type { Job } from '#protocol/messages/job.ts';
import type { Outcome } from '#protocol/messages/outcome.ts';
import { type ProcessIdentity, textOrEmpty } from '../processes/proc.ts';
import type { ShippedRecord, SlotRecord, SpoolPaths } from './layout.ts';

export function readJob(paths: SpoolPaths): Job | null {
  return readJsonOrNull<Job>(paths.job);
}

export function readOutcome(paths: SpoolPaths): Outcome | null {
  return readJsonOrNull<Outcome>(paths.outcome);
}

/** @throws an Error if the attempt has not ended */
export function requireOutcome(paths: SpoolPaths): Outcome {
  const outcome = readOutcome(paths);
  if (!outcome) throw new Error(`${paths.outcome} is missing although the attempt counts as ended`);
  return outcome;
}

export function readSlotRecord(paths: SpoolPaths): SlotRecord | null {
  return readIfWhole<SlotRecord>(paths.slot);
}

/** The process that runs the attempt, or else the one that was to get the order. */
export function readRunner(paths: SpoolPaths): ProcessIdentity | null {
  return readIfWhole<ProcessIdentity>(paths.runner) ?? readSlotRecord(paths)?.runner ?? null;
}

export function readShipped(paths: SpoolPaths): ShippedRecord {
  const lines = textOrEmpty(paths.shipped).split('\n').reverse();
  return lines.map(recordOf).find((record) => record !== null) ?? { rawBytes: {} };
}

function recordOf(line: string): ShippedRecord | null {
  try {
    return JSON.parse(line) as ShippedRecord;
  } catch {
    return null;
  }
}

/** Adds a record, which replaces those before it: a new file for each would take several times as long. */
export function writeShipped(paths: SpoolPaths, record: ShippedRecord): void {
  // A full disk may have torn the one before.
  appendFileSync(paths.shipped, `\n${JSON.stringify(record)}\n`, { mode: 0o600 });
}

/** A start mark; that of a retry names the one that it replaces. */
export interface StartMark {
  readonly mark: string;
  readonly replaces?: string;
}

/** The start mark; null before the runner has written one. */
export function readMark(paths: SpoolPaths): StartMark | null {
  return readJsonOrNull<StartMark>(paths.mark);
}

/** File in which a changing command reports its progress. */
export interface ProgressPlace {
  readonly step: string;
  /** Start of the command's own output in the step's log, in bytes. */
  readonly offset: number;
  /** Absolute path of its `eventFile`; absent: it reports in the step's log. */
  readonly eventFile?: string;
}

/** Of the last changing command; null: there was none, or a power cut has torn the file. */
export function readProgressPlace(paths: SpoolPaths): ProgressPlace | null {
  return readIfWhole<ProgressPlace>(paths.progress);
}

/** The mark that the server has; null: none. */
export function readStoredMark(paths: SpoolPaths): string | null {
  try {
    return readFileSync(paths.markStored, 'utf8');
  } catch (error) {
    return nullIfMissing(error as NodeJS.ErrnoException);
  }
}

export function isMarkStored(paths: SpoolPaths): boolean {
  return existsSync(paths.markStored);
}

/** A complete version of the state. */
export interface StateVersionFile {
  /** Grows with each version of the attempt. */
  readonly number: number;
  readonly bytes: Buffer;
}

/** The newest complete version of the state that the runner copied; null if there is none. */
export async function readNewestState(paths: SpoolPaths): Promise<StateVersionFile | null> {
  // The runner removes older versions while this reads: if a name disappeared, there is a newer one.
  for (;;) {
    const number = await newestStateNumber(paths);
    if (number === null) return null;
    const bytes = await readFile(join(paths.states, `${number}.tfstate`)).catch(nullIfMissing);
    if (bytes) return { number, bytes };
  }
}

export async function newestStateNumber(paths: SpoolPaths): Promise<number | null> {
  const names = (await readdir(paths.states).catch(nullIfMissing)) ?? [];
  const numbers = names
    .map((name) => /^(\d+)\.tfstate$/.exec(name)?.[1])
    .filter((text) => text !== undefined)
    .map(Number);
  return numbers.length === 0 ? null : Math.max(...numbers);
}

/** Null for a file that does not exist (yet); any other failure is thrown. */
export function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

function readJsonOrNull<Value>(file: string): Value | null {
  try {
    return parseExactly(readFileSync(file, 'utf8')) as Value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Before the start mark, a file that names a process is not durable: what a power cut leaves of it ran nothing. */
function readIfWhole<Value>(file: string): Value | null {
  try {
    return readJsonOrNull<Value>(file);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
