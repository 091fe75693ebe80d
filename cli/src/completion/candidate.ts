/** A word that can come next, and what a shell shows with it. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}
