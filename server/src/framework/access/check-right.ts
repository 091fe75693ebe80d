/** Requires the right that an operation declares, about the entity that the request names. */
import { LruMap } from 'toad-cache';
import type { Right } from '#contract/schema/enumerations.ts';
import { type Operation, rightsOf, type Subject } from '#contract/schema/operation.ts';
import { notFound, Refusal, unknownEntity } from '../../ground/errors.ts';
import type { FindHome, Homes } from '../../rows/entity-home.ts';
import type { Place } from '../../rows/places.ts';
import type { Context } from '../context.ts';
import { perServer } from '../events/per-server.ts';
import type { Access } from './access.ts';
import type { Actor } from './actor.ts';

interface KeptHome {
  readonly home: Place;
  readonly version: string;
}

const keptOf = perServer(() => new LruMap<KeptHome>(10_000));

/**
 * Finds the home of an entity, from memory where nothing can have changed it.
 * @param access of the caller, loaded before: its version must not be newer than the home that is found
 * @param find how to find the home of the entity with this id
 */
async function homeFor(
  context: Pick<Context, 'db' | 'events'>,
  access: Access,
  find: FindHome,
  id: string,
): Promise<Place | undefined> {
  if (!find.isVersioned) return find(context.db, id);
  const kept = keptOf(context);
  const found = kept.get(id);
  if (found && found.version === access.versionOf(found.home.organizationId)) return found.home;
  const home = await find(context.db, id);
  if (!home) return undefined;
  const version = access.versionOf(home.organizationId);
  if (version !== undefined) kept.set(id, { home, version });
  return home;
}

export interface RequestParts {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

function named(parts: RequestParts, subject: Subject): string | undefined {
  const value = (parts[subject.in] as Record<string, unknown> | null | undefined)?.[subject.field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Whether a request names the subject of an operation, or the operation has none. */
export function isNamed(operation: Operation, parts: RequestParts): boolean {
  const subjects = subjectsOf(operation);
  return subjects.length === 0 || subjects.some((subject) => named(parts, subject) !== undefined);
}

/** The name of an entity as people read it: `stateVersion` → `state version`. */
function wordsOf(entity: string): string {
  return entity.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function unknownReference(subject: Subject, id: string): Refusal {
  const words = wordsOf(subject.entity);
  return subject.in === 'params'
    ? notFound(words, id)
    : unknownEntity(`${subject.in}.${subject.field}`, words);
}

/** The subject of an operation: the candidates, one of which a request names. */
export function subjectsOf({ subject = [] }: Operation): readonly Subject[] {
  return [subject].flat() as readonly Subject[];
}

/** Subject of a request, as far as it specifies one. */
export function subjectOf(operation: Operation, parts: RequestParts): { entity?: string; entityId?: string } {
  for (const subject of subjectsOf(operation)) {
    const entityId = named(parts, subject);
    if (entityId !== undefined) return { entity: subject.entity, entityId };
  }
  return {};
}

/** Whether a caller without any role gets the empty list, as from lists that require no right. */
export function isEmptyFor(actor: Actor, operation: Operation): boolean {
  const subjects = subjectsOf(operation);
  return (
    actor.access.organizationIds.length === 0 &&
    operation.method === 'GET' &&
    (operation.reply as { type?: unknown }).type === 'array' &&
    subjects.length > 0 &&
    subjects.every((subject) => subject.in === 'query')
  );
}

/** A right that the caller does not have at a place. */
export class MissingRight extends Refusal {
  readonly place: Place;

  constructor(message: string, place: Place) {
    super('forbidden', message);
    this.place = place;
  }
}

/**
 * @param why which part of the request needs the right
 * @throws Refusal 403 where the caller does not have it at that place
 */
export function requireRight({ access }: Actor, place: Place, right: Right, why: string): void {
  if (!access.has(right, place)) throw new MissingRight(`${why} needs the right ${right}`, place);
}

/**
 * Before it is known what the right is about.
 * @throws Refusal 403 where the caller has the right nowhere
 */
export function requireAnywhere(actor: Actor, operation: Operation): void {
  const { access } = actor;
  const possible = rightsOf(operation);
  if (possible.length === 0 || possible.some((right) => access.anywhere(right))) return;
  const why = access.organizationIds.length === 0 ? ', and you have no role in any organization' : '';
  throw new Refusal('forbidden', `This needs the right ${possible.join(' or ')}${why}`);
}

/**
 * A request may name the organization next to what it is about.
 * @throws Refusal 400 for one that the caller does not know
 */
function refuseForeignOrganization(
  { access }: Actor,
  subjects: readonly Subject[],
  parts: RequestParts,
): void {
  for (const subject of subjects) {
    const id = subject.entity === 'organization' ? named(parts, subject) : undefined;
    if (id !== undefined && !access.isMember(id.toLowerCase())) throw unknownReference(subject, id);
  }
}

interface Looking extends Pick<Context, 'db' | 'events'> {
  readonly homes: Homes;
}

/**
 * Looks up where the subject is that the address of a request names, before it is known who asks.
 * @returns undefined where the address names none, or one that may be in memory
 */
export function lookUpSubject(
  { db, homes }: Looking,
  operation: Operation,
  parts: RequestParts,
): Promise<Place | undefined> | undefined {
  const subject = subjectsOf(operation).find((candidate) => named(parts, candidate) !== undefined);
  const find = subject && homes.get(subject.entity);
  if (!find || find.isVersioned) return undefined;
  const place = find(db, named(parts, subject) as string);
  // The error is for the one who waits for the place.
  place.catch(() => undefined);
  return place;
}

/**
 * @param known where the subject is, if that was looked up already
 * @returns where the subject is, or null where the operation has none
 * @throws Refusal 404 (id in the path) or 400 (id elsewhere) for what does not exist or may not be seen, 403
 * without the right
 */
export async function checkRight(
  looking: Looking,
  actor: Actor,
  operation: Operation,
  parts: RequestParts,
  known?: Promise<Place | undefined>,
): Promise<Place | null> {
  if (operation.needs === 'signed-in' || operation.needs === 'nothing' || !operation.subject) return null;
  const subjects = subjectsOf(operation);
  const subject = subjects.find((candidate) => named(parts, candidate) !== undefined);
  if (!subject) {
    const fields = subjects.map((each) => `/${each.in}/${each.field}`).join(' or ');
    throw new Refusal('bad_request', `${fields} is required`);
  }
  const id = named(parts, subject) as string;
  const needs = subject.needs ?? operation.needs;
  if (actor.access.organizationIds.length === 0 && subject.in !== 'params')
    throw new Refusal('forbidden', `This needs the right ${needs}, and you have no role in any organization`);
  const find = looking.homes.get(subject.entity);
  const home = await (known ?? (find && homeFor(looking, actor.access, find, id)));
  if (!home || !actor.access.isMember(home.organizationId)) throw unknownReference(subject, id);
  refuseForeignOrganization(actor, subjects, parts);
  const { needsAnywhere, needsInstead } = operation;
  const isAllowed = needsAnywhere
    ? actor.access.anywhere(needs, home.organizationId)
    : actor.access.has(needs, home) || (needsInstead && actor.access.has(needsInstead.right, home));
  if (!isAllowed) throw new MissingRight(`This needs the right ${needs}`, home);
  return home;
}
