/** Why an approval policy cannot be evaluated, in words for people: it fails the run. */
export class PolicyError extends Error {
  override readonly name: string = 'PolicyError';
}

/** Temporary obstacle to an evaluation, which says nothing about the policy: it is tried again. */
export class PolicyUnavailable extends PolicyError {
  override readonly name = 'PolicyUnavailable';
}
