/** Messages between the processes that check claims of tests. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Covered } from '#contract/documents/coverage.ts';

/** Content of the file that programs read at each request. */
export interface ClaimState {
  /** Claims of which one is checked at a time: replies without their fields have to fit the contract. */
  readonly claims: readonly Covered[];
  /** The claim that is checked: its field is missing. */
  readonly dropped: Covered | null;
}

/** Names the file, for the process of the tests. */
export const stateVariable = 'CLAIMS_STATE';
/** Set where a process runs the test of one claim once: `whole` as it is, anything else without the field. */
export const aloneVariable = 'CLAIMS_ALONE';

/** Result of one run of a test. */
export interface ClaimRun {
  readonly test: string;
  /** Null: nothing was dropped. */
  readonly claim: Covered | null;
  /** Null: the test passed. */
  readonly error: string | null;
  readonly seconds: number;
  /** It was not waited for any longer. */
  readonly isLate: boolean;
}

/** A test or a suite that is left out, with its reason. */
export interface SkippedTest {
  /** Title of the test; null: a suite. */
  readonly test: string | null;
  readonly skip: string;
}

/** Whether a title of a test in the source, which may have placeholders, is that of a test. */
export function isTitle(source: string, title: string): boolean {
  const parts = source.split(/\$\{[^}]*\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(title);
}

export function readState(file: string): ClaimState {
  return JSON.parse(readFileSync(file, 'utf8')) as ClaimState;
}

/** Replaces the file at once, because programs may read it at any time. */
export function writeState(file: string, state: ClaimState): void {
  writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o644 });
  renameSync(`${file}.new`, file);
}
