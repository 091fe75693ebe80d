/** Why an approval policy cannot be evaluated, in words for people: it fails the run. */
export class PolicyError extends Error {
  override readonly name = 'PolicyError';
}
