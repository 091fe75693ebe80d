/** A word that can come next, and what a shell shows with it. */
export interface CompletionCandidate {
  readonly value: string;
  readonly description: string;
}
