/** Why a run is stopped from outside, and how urgently. */
export interface StopReason {
  readonly result: 'aborted' | 'timed-out' | 'failed' | 'internal';
  readonly how: 'gently' | 'now';
  readonly message: string;
}
