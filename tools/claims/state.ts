/** Messages between the processes that check claims of tests. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Covered } from '#contract/documents/coverage.ts';

/** Content of the file that says what is checked. */
export interface ClaimState {
  /** The claims whose tests run. */
  readonly claims: readonly Covered[];
  /** The claim that is checked: its field is missing. Programs read it at each request. */
  readonly dropped: Covered | null;
  /** Each test runs once only: with all fields, or without that of its claim. */
  readonly only?: 'with' | 'without';
}

/** Names the file, for the process of the tests. */
export const stateVariable = 'CLAIMS_STATE';

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
