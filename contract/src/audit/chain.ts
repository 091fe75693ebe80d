/**
 * The chain of the audit trail, as the service writes it and as anyone can check it without the service.
 *
 *   content hash   SHA-256 of an entry as canonical JSON: keys sorted, no spaces, null for what is absent
 *   hash           SHA-256 of chain, number, hash of the entry before, and content hash, as canonical JSON
 *
 * Each organization has a chain of its own, numbered from 1; entries without an organization are in the chain
 * `installation`. The first entry follows 64 zeros.
 */
import { hash } from 'node:crypto';
import { ExactNumber } from '../schema/exact-json.ts';

/** Content of an entry, in the fields of the interface. Names of people are not part of it: they may be removed. */
export interface AuditContent {
  readonly id: string;
  readonly organizationId: string | null;
  readonly projectId: string | null;
  readonly actorId: string;
  readonly keyId: string | null;
  readonly ipAddress: string | null;
  readonly actionName: string;
  readonly entity: string;
  readonly entityId: string;
  readonly requestId: string | null;
  readonly timestamp: string;
  readonly payload: unknown;
  readonly before: unknown;
  readonly after: unknown;
}

/** Position of an entry in its chain. */
export interface AuditLink {
  readonly number: number;
  readonly previousHash: string;
  readonly contentHash: string;
  readonly hash: string;
}

/** Chain of the entries that belong to no organization. */
export const installationChain = 'installation';
export const zeroHash = '0'.repeat(64);

/** In the order of canonical JSON. */
const contentFields = [
  'actionName',
  'actorId',
  'after',
  'before',
  'entity',
  'entityId',
  'id',
  'ipAddress',
  'keyId',
  'organizationId',
  'payload',
  'projectId',
  'requestId',
  'timestamp',
] as const satisfies readonly (keyof AuditContent)[];

/** JSON with sorted keys and without spaces: one text for each value. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value ?? null);
  // The database writes 1e21 in another way than JavaScript.
  if (value instanceof ExactNumber) return JSON.stringify(Number(value.text));
  if ('toJSON' in value && typeof value.toJSON === 'function') return canonicalJson(value.toJSON());
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  fields.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([key, each]) => `${JSON.stringify(key)}:${canonicalJson(each)}`).join(',')}}`;
}

/** The text of an entry that is hashed; fields that are not part of the content are left out. */
export function contentText(entry: AuditContent): string {
  return `{${contentFields.map((field) => `"${field}":${canonicalJson(entry[field])}`).join(',')}}`;
}

export function chainOf(organizationId: string | null): string {
  return organizationId ?? installationChain;
}

/** The hash of an entry in its chain. */
export function linkHash(
  chain: string,
  { number, previousHash, contentHash }: Omit<AuditLink, 'hash'>,
): string {
  return sha256(canonicalJson({ chain, contentHash, number, previousHash }));
}

export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
