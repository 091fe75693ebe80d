import type { Outcome } from '#protocol/messages/outcome.ts';

/** End of a phase. */
export interface PhaseEnd {
  readonly result: Outcome['result'];
  /** Keeps or removes the work folder, once all processes of the phase have ended. */
  endWorkFolder(): void;
}
