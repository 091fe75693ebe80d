/** Budget of one request: filters and lists come from third parties, and block all other requests. */
import { ScimRefusal } from '../../framework/http/replies/scim-refusal.ts';

/** About two seconds of one processor. */
const mostCompared = 2_000_000;

export class RequestBudget {
  #left = mostCompared;

  /** Counts values that a request compares. @throws ScimRefusal 400 tooMany for too many of them */
  spend(values: number): void {
    this.#left -= values;
    if (this.#left < 0)
      throw new ScimRefusal(
        'tooMany',
        `The request compares more than ${mostCompared} values: send it in parts, or with a simpler filter`,
      );
  }
}
