/** Changes as two views that have only the fields in which they differ. */
import { isDeepStrictEqual } from 'node:util';
import { SealError } from '../../ground/secrets/sealer.ts';
import type { Context } from '../context.ts';

export interface Changes {
  readonly before?: Record<string, unknown>;
  readonly after?: Record<string, unknown>;
}

type AuditView = Readonly<Record<string, unknown>>;

/** Fields whose change says nothing: each change changes them. */
const ignored = new Set(['updated_at', 'updated_by', 'updatedAt', 'updatedBy']);

/** As JSON has it: dates as texts, and nothing for what has no value. */
function asStored(view: AuditView | null): AuditView {
  return JSON.parse(JSON.stringify(view ?? {})) as AuditView;
}

/**
 * The fields in which two views differ.
 * @param before null for what was created. Secrets come as fingerprints, never as they are
 * @param after null for what was removed
 * @returns for an audit entry; without a side that did not exist
 */
export function changesOf(before: AuditView | null, after: AuditView | null): Changes {
  const [was, is] = [asStored(before), asStored(after)];
  const differs = (field: string) =>
    !ignored.has(field) && !isDeepStrictEqual(was[field] ?? null, is[field] ?? null);
  const only = (view: AuditView) =>
    Object.fromEntries(Object.entries(view).filter(([field]) => differs(field)));
  return { ...(before ? { before: only(was) } : {}), ...(after ? { after: only(is) } : {}) };
}

/** Whether what `changesOf` compared is the same. */
export function isUnchanged({ before = {}, after = {} }: Changes): boolean {
  return Object.keys(before).length === 0 && Object.keys(after).length === 0;
}

/**
 * The fingerprint of a sealed secret.
 * @param place within which values may be compared
 * @param open reveals the value
 * @returns null where it can no longer be opened
 */
export function sealedFingerprint(
  { auditKeys }: Pick<Context, 'auditKeys'>,
  place: string,
  open: () => string | null,
): string | null {
  try {
    const value = open();
    return value === null ? null : auditKeys.fingerprint(place, value);
  } catch (error) {
    if (error instanceof SealError) return null;
    throw error;
  }
}
