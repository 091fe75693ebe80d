/** Messages between the page and the worker that keeps the log. */
import type { LogBytesEvent } from '#contract/feeds/shapes.ts';
import type { SearchText } from './pattern.ts';
import type { LogPosition, SearchCount, SearchHit } from './search.ts';
import type { ShownLine } from './shown-lines.ts';

export interface StepState {
  readonly name: string;
  readonly isFailed: boolean;
}

/** Questions with an answer, by name. */
export interface Questions {
  /** The next line with a hit. */
  readonly next: {
    ask: { from: LogPosition | undefined; isBackwards: boolean };
    answer: SearchHit | undefined;
  };
  /** Position of the first error; answered when the log of the failed steps has arrived. */
  readonly error: { ask: object; answer: LogPosition | undefined };
  /** The text of lines without colours, `to` not included. */
  readonly text: { ask: { step: string; from: number; to: number }; answer: string };
  /** The stored bytes of a step, or of all. */
  readonly file: { ask: { step?: string | undefined }; answer: Blob };
}

export type WorkerRequest = {
  [Name in keyof Questions]: { name: Name } & Questions[Name]['ask'];
}[keyof Questions];

export type ToWorker =
  | ({ type: 'append' } & LogBytesEvent)
  /** The steps in their order. */
  | { type: 'steps'; steps: readonly StepState[] }
  /** All of the step's log has come; without a name: of all steps. */
  | { type: 'ended'; step?: string | undefined }
  | { type: 'block'; step: string; block: number; longer: Readonly<Record<number, number>> }
  | { type: 'search'; search: SearchText | undefined }
  | { type: 'ask'; id: number; question: WorkerRequest };

/** Available part of a step's log. */
export interface StepSize {
  readonly name: string;
  readonly lines: number;
  readonly bytes: number;
}

export type FromWorker =
  | { type: 'grown'; steps: readonly StepSize[] }
  | { type: 'block'; step: string; block: number; lines: readonly ShownLine[] }
  | { type: 'counted'; count: SearchCount }
  | { type: 'answer'; id: number; answer: unknown }
  /** Bytes are missing: the log has to be read from its beginning. */
  | { type: 'gap' };
