/** Meaning of a plan without rows: decided by the service, not by the number of rows. */

export interface PlanFacts {
  /** As the service says; undefined: it does not. */
  readonly isPlanEmpty: boolean | undefined;
  /** Whether it is the plan of a drift run that found none, as the service says. */
  readonly isWithoutDrift: boolean;
}

/** Text in place of the rows. */
export function withoutRowsText({ isPlanEmpty, isWithoutDrift }: PlanFacts): string {
  if (isWithoutDrift) return 'Nothing has drifted: the code and the resources agree.';
  if (isPlanEmpty === true) return 'Nothing changes.';
  const text = 'No resource and no output changes.';
  if (isPlanEmpty === undefined) return text;
  return `${text} The apply still has something to do, such as a new revision of a release.`;
}
