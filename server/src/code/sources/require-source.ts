/** Finds the uploaded code that a request names. */
import type { Context } from '../../framework/context.ts';
import { badField } from '../../ground/errors.ts';
import { getSourceRow, type SourceArchiveRow } from '../../rows/sources/source-store.ts';

/**
 * The archive that a remote plan names.
 * @param field that contains the id, as the caller knows it
 * @throws Refusal 400 where this environment has none of this id, or it has expired
 */
export async function requireSource(
  context: Pick<Context, 'db' | 'now'>,
  environmentId: string,
  id: string,
  field: string,
): Promise<SourceArchiveRow> {
  const row = await getSourceRow(context.db, id);
  if (row?.environment_id !== environmentId)
    throw badField(
      field,
      'does not match an upload for this environment: upload the code first (uploadSource)',
    );
  if (row.blob === null || row.expires_at <= context.now())
    throw badField(
      field,
      `refers to an upload that expired at ${row.expires_at.toISOString()}: upload it again`,
    );
  return row;
}
