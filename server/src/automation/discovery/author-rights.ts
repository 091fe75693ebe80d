/** Rights of the person or key that discovery acts for. */
import type { Right } from '#contract/schema/enumerations.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext } from '../../framework/context.ts';
import type { Place } from '../../rows/places.ts';

/**
 * The author needs the rights that everybody needs, at the time when something is done.
 * @throws Refusal 403 that says for whom discovery acts
 */
export function requireAuthorRights({ actor }: ActorContext, place: Place, rights: readonly Right[]): void {
  const who = `Environment discovery acts for ${actor.name}, who saved its configuration, and`;
  for (const right of rights) requireRight(actor, place, right, who);
}
