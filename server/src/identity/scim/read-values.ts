/** Checks what is sent about people and groups. */
import { ScimRefusal } from '../../framework/http/replies/scim-refusal.ts';
import type { Email, PersonName } from '../../rows/scim/columns.ts';
import { canonical } from './canonical.ts';
import type { GroupMember, GroupValues, UserValues } from './resource.ts';

const mostCharacters = 255;
const mostEmails = 50;
const mostMembers = 10_000;
const emailPattern = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

function invalid(name: string, why: string): ScimRefusal {
  return new ScimRefusal('invalidValue', `${name} ${why}`);
}

function textOf(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw invalid(name, 'must be a string');
  if (value.length > mostCharacters) throw invalid(name, `has more than ${mostCharacters} characters`);
  if (/\p{Cc}/u.test(value)) throw invalid(name, 'has control characters');
  return value;
}

/** Some providers send the words. */
function flagOf(value: unknown, name: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  throw invalid(name, 'must be true or false');
}

function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(name, 'must be an object');
  return value as Record<string, unknown>;
}

function listOf(value: unknown, name: string, most: number): Record<string, unknown>[] {
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  if (list.length > most) throw invalid(name, `has more than ${most} elements`);
  return list.map((each) => objectOf(each, name));
}

/** Without what has no value. */
function defined<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

function nameOf(value: unknown): PersonName | undefined {
  if (value === undefined || value === null) return undefined;
  const { formatted, givenName, familyName } = objectOf(value, 'name');
  const name = defined<PersonName>({
    formatted: textOf(formatted, 'name.formatted'),
    givenName: textOf(givenName, 'name.givenName'),
    familyName: textOf(familyName, 'name.familyName'),
  });
  return Object.keys(name).length === 0 ? undefined : name;
}

/** At most one is the primary one: the last that says so. */
function emailsOf(value: unknown): readonly Email[] | undefined {
  const emails = listOf(value, 'emails', mostEmails).flatMap((each): Email[] => {
    const address = textOf(each['value'], 'emails.value');
    const type = textOf(each['type'], 'emails.type');
    const primary = flagOf(each['primary'], 'emails.primary');
    return address === undefined ? [] : [defined<Email>({ value: address, type, primary })];
  });
  const last = emails.findLastIndex(({ primary }) => primary);
  const single = emails.map((each, index) =>
    each.primary && index !== last ? { ...each, primary: false } : each,
  );
  return single.length === 0 ? undefined : single;
}

/**
 * @param sent as `canonical` makes it
 * @param before what stays where it is not sent: whether the person is active
 * @throws ScimRefusal 400 that names the attribute
 */
export function readUser(sent: unknown, before?: Pick<UserValues, 'active'>): UserValues {
  const body = objectOf(canonical(sent), 'The resource');
  const userName = textOf(body['userName'], 'userName');
  if (userName === undefined) throw invalid('userName', 'is required');
  if (!emailPattern.test(userName) || userName.length > 254)
    throw invalid('userName', 'must be the e-mail address with which the person signs in');
  return defined<UserValues>({
    userName,
    externalId: textOf(body['externalId'], 'externalId'),
    name: nameOf(body['name']),
    displayName: textOf(body['displayName'], 'displayName'),
    emails: emailsOf(body['emails']),
    active: flagOf(body['active'], 'active') ?? before?.active ?? true,
  });
}

/** @throws ScimRefusal 400 that names the attribute */
export function readGroup(sent: unknown): GroupValues {
  const body = objectOf(canonical(sent), 'The resource');
  const displayName = textOf(body['displayName'], 'displayName');
  if (displayName === undefined || displayName.trim() === '') throw invalid('displayName', 'is required');
  const members = listOf(body['members'], 'members', mostMembers).flatMap((each): GroupMember[] => {
    const value = textOf(each['value'], 'members.value');
    return value === undefined ? [] : [{ value }];
  });
  const externalId = textOf(body['externalId'], 'externalId');
  const unique = [...new Map(members.map((member) => [member.value, member])).values()];
  return { displayName, members: unique, ...(externalId === undefined ? {} : { externalId }) };
}
