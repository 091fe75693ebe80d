/** Whether the settings of an agent allow it to read a secret for a run. */
import type { Job } from '#protocol/messages/job.ts';
import type { SecretReference } from '#protocol/secret-references.ts';
import type { AllowedReference } from '#settings/secret-stores.ts';
import { SecretProblem } from './stores/secret-store.ts';
import { placeOf } from './stores/vault.ts';

/** @returns the end of a sentence; null for what is allowed */
export function refusalOf(
  { store, name }: SecretReference,
  allowed: readonly AllowedReference[],
  job: Job,
): string | null {
  const own = allowed.filter((one) => one.store === store).map(({ pattern }) => filledFor(pattern, job));
  if (own.length === 0)
    return `this agent does not read from ${store}; add ${store}:* to its setting ENVARIUM_SECRET_REFERENCES to allow it`;
  try {
    const matches = store === 'vault' ? matchesPlace : matchesText;
    if (own.some((pattern) => matches(pattern, name))) return null;
  } catch (error) {
    if (error instanceof SecretProblem) return error.message;
    throw error;
  }
  const isElsewhere = store === 'vault' && placeOf(name).namespace !== '';
  const hint = isElsewhere ? ' (a pattern allows a namespace only if it ends with @ and one)' : '';
  return `no pattern in ENVARIUM_SECRET_REFERENCES of the agent allows it for this run${hint}`;
}

function filledFor(pattern: string, job: Job): string {
  return pattern.replaceAll(
    /\{(organizationId|projectId|environmentId)\}/g,
    (_, field: 'organizationId' | 'projectId' | 'environmentId') => job[field],
  );
}

/**
 * Compares path, key and namespace apart, so that no part of a name can stand for another one. A pattern without a key
 * allows all keys; one without a namespace allows none.
 * @throws SecretProblem for a malformed name
 */
function matchesPlace(pattern: string, name: string): boolean {
  const place = placeOf(name);
  const [, path = '', key = '*', namespace = ''] =
    /^(.*?)(?:\.([^./@]*))?(?:@([^@]*))?$/s.exec(pattern) ?? [];
  return (
    matchesText(path, place.path) && matchesText(key, place.key) && matchesText(namespace, place.namespace)
  );
}

/** Compares a text with a pattern in which `*` is any text. */
function matchesText(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
