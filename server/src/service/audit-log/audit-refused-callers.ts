/** Loop: records in the audit trail who was refused, a few rows for any number of attempts. */
import { storeAudit } from '../../framework/audit/record.ts';
import type { Context } from '../../framework/context.ts';
import { perServer } from '../../framework/events/per-server.ts';
import { type RefusedAddress, refusedCallers } from '../../framework/http/callers/refused-callers.ts';
import { inTransaction } from '../../ground/database/transaction.ts';
import { ownerOfCredentials } from '../../rows/users/user-store.ts';
import { type Store, storeAll } from './store-later.ts';

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

const keptOf = perServer((): Store[] => []);

export async function auditRefusedCallers(context: Context): Promise<void> {
  const refused = refusedCallers(context).takeSummary();
  const addresses = rowsOf(refused).map(
    ({ address, details }): Store =>
      (context) =>
        storeAudit(context, {
          organizationId: null,
          action: 'credentials.refused',
          entity: 'address',
          entityId: address,
          details,
        }),
  );
  await storeAll(context, keptOf(context), [...addresses, ...triedKeys(refused)]);
}

/**
 * The organizations of a key or a person learn from which addresses it was refused, and why where the secret of
 * a key was right: it expired, or may be in foreign hands.
 */
function triedKeys(refused: readonly RefusedAddress[]): Store[] {
  const byKey = new Map<string, string[]>();
  for (const { address, keyIds } of refused)
    for (const id of keyIds) byKey.set(id, [...(byKey.get(id) ?? []), address]);
  return [...byKey].slice(0, mostRows).map(([keyId, addresses]) => {
    const details = {
      addresses: addresses.slice(0, mostRows),
      count: addresses.length,
      ...reasonsOf(keyId, refused),
    };
    return (context) => storeTriedKey(context, keyId, details);
  });
}

/** Stores all of them or none: where the database goes away in between, all are stored later. */
async function storeTriedKey(
  context: Context,
  keyId: string,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  await inTransaction(context, async (context) => {
    const { entity, organizationIds } = await ownerOfCredentials(context.db, keyId);
    const entry = { action: 'credentials.refused', entity, entityId: keyId, details };
    for (const organizationId of organizationIds) await storeAudit(context, { organizationId, ...entry });
  });
}

function reasonsOf(keyId: string, refused: readonly RefusedAddress[]): { reasons?: string[] } {
  const reasons = new Set(refused.flatMap((each) => each.reasons.get(keyId) ?? []));
  return reasons.size > 0 ? { reasons: [...reasons] } : {};
}
