/** The one place that a request about roles names. */

import { badField } from '../../ground/errors.ts';
import type { Place } from '../../rows/places.ts';

export type PlaceFields = Partial<Record<(typeof placeFields)[number], string>>;

export const placeFields = ['environmentId', 'projectId', 'organizationId'] as const;

/**
 * The place that a request names, which is where the right was checked.
 * @throws Refusal 400 where it names several
 */
export function onlyPlace(home: Place | null, part: 'query' | 'body', fields: PlaceFields): Place {
  const [, second] = placeFields.filter((field) => fields[field] !== undefined);
  if (second !== undefined)
    throw badField(`${part}.${second}`, 'is too much: send one of organizationId, projectId, environmentId');
  if (home === null) throw badField(part, 'must have one of organizationId, projectId, environmentId');
  return home;
}
