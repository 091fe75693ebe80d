/** Loop: records in the audit trail who was refused, a few rows for any number of attempts. */
import { storeAudit } from '../audit/record.ts';
import type { Context } from '../context.ts';
import { type RefusedAddress, refusedCallers } from '../http/refused-callers.ts';
import { ownerOfCredentials } from '../users/user-store.ts';

export const auditEverySeconds = 60;
/** Rows of one pass; addresses beyond them share the last one. */
const mostRows = 20;

function rowsOf(refused: readonly RefusedAddress[]): { address: string; details: Record<string, unknown> }[] {
  const sorted = refused.toSorted((one, other) => other.failures - one.failures);
  const rows = sorted.slice(0, mostRows - 1).map(({ address, failures, unchecked, keyIds, reasons }) => ({
    address,
    details: {
      failures,
      unchecked,
      keyIds: [...keyIds],
      ...(reasons.size > 0 ? { reasons: Object.fromEntries(reasons) } : {}),
    },
  }));
  const others = sorted.slice(mostRows - 1);
  if (others.length === 0) return rows;
  const sum = (of: 'failures' | 'unchecked') => others.reduce((total, each) => total + each[of], 0);
  const details = { addresses: others.length, failures: sum('failures'), unchecked: sum('unchecked') };
  return [...rows, { address: 'others', details }];
}

export async function auditRefusedCallers(context: Context): Promise<void> {
  const refused = refusedCallers(context).takeSummary();
  for (const { address, details } of rowsOf(refused))
    await storeAudit(context, {
      organizationId: null,
      action: 'credentials.refused',
      entity: 'address',
      entityId: address,
      details,
    });
  await auditTriedKeys(context, refused);
}

/**
 * The organizations of a key or a person learn from which addresses it was refused, and why where the secret of
 * a key was right: it expired, or may be in foreign hands.
 */
async function auditTriedKeys(context: Context, refused: readonly RefusedAddress[]): Promise<void> {
  const byKey = new Map<string, string[]>();
  for (const { address, keyIds } of refused)
    for (const id of keyIds) byKey.set(id, [...(byKey.get(id) ?? []), address]);
  for (const [keyId, addresses] of [...byKey].slice(0, mostRows)) {
    const { entity, organizationIds } = await ownerOfCredentials(context.db, keyId);
    for (const organizationId of organizationIds)
      await storeAudit(context, {
        organizationId,
        action: 'credentials.refused',
        entity,
        entityId: keyId,
        details: {
          addresses: addresses.slice(0, mostRows),
          count: addresses.length,
          ...reasonsOf(keyId, refused),
        },
      });
  }
}

function reasonsOf(keyId: string, refused: readonly RefusedAddress[]): { reasons?: string[] } {
  const reasons = new Set(refused.flatMap((each) => each.reasons.get(keyId) ?? []));
  return reasons.size > 0 ? { reasons: [...reasons] } : {};
}
