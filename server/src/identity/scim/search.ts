/** Searches by POST (RFC 7644, 3.4.3): lists whose parameters are in the body. */
import { ScimRefusal } from '../../framework/http/replies/scim-refusal.ts';
import { parseFilter } from './filter.ts';
import { groupPaths, matchingGroups, withMembers } from './list-groups.ts';
import { matchingUsers, userPaths } from './list-users.ts';
import { listResponse, pageOf, selection, textOf } from './page.ts';
import type { GroupResource, ScimResource } from './resource.ts';
import type { ScimRequest } from './scim-request.ts';

function namesOf(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    throw new ScimRefusal('invalidValue', `${name} must be a list of strings`);
  return value.join(',');
}

function numberOf(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : (value ?? undefined);
}

/** The request as if its parameters were in the query. @throws ScimRefusal 400 that names the parameter */
export function searching(request: ScimRequest, body: unknown): ScimRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ScimRefusal('invalidSyntax', 'A search must be an object');
  const { filter, startIndex, count, attributes, excludedAttributes } = body as Record<string, unknown>;
  const query = {
    filter: filter ?? undefined,
    startIndex: numberOf(startIndex),
    count: numberOf(count),
    attributes: namesOf(attributes, 'attributes'),
    excludedAttributes: namesOf(excludedAttributes, 'excludedAttributes'),
  };
  return { ...request, query };
}

/** A page of all people, followed by all groups. An attribute that one of both does not have matches nothing. */
export async function searchAll(request: ScimRequest): Promise<object> {
  const text = textOf(request.query, 'filter');
  const paths = new Map([...userPaths, ...groupPaths]);
  const filter = text === undefined ? null : parseFilter(text, paths);
  const found: ScimResource[] = [
    ...(await matchingUsers(request, filter)),
    ...(await matchingGroups(request, filter)),
  ];
  const { start, items } = pageOf(found, request.query);
  const isGroup = (each: ScimResource): each is GroupResource => each.meta.resourceType === 'Group';
  const groups = await withMembers(request, items.filter(isGroup));
  const whole = [...items.filter((each) => !isGroup(each)), ...groups];
  return listResponse(found.length, start, whole.map(selection(request.query)));
}
