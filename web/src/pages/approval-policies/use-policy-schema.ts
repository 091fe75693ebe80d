/** Settings of a policy: known for the catalogue, and read from a repository if possible. */
import { useDebouncedValue } from '@mantine/hooks';
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { accessOf, looksComplete } from '../../forms/source/source-values.ts';
import { configurationFields } from './configuration-schema.ts';
import type { ApprovalPolicyValues } from './policy-values.ts';

export interface PolicySchema {
  /** undefined: the policy has none, or it is not known. */
  readonly schema: unknown;
  /** Whether at least one setting has a field. */
  readonly hasFields: boolean;
  /** Why the repository did not provide it; undefined: it did, or was not read. */
  readonly error: Error | null;
}

function useSchemaOfRepository({ origin, source }: Pick<ApprovalPolicyValues, 'origin' | 'source'>) {
  const { organizationId } = useSession();
  const [query] = useDebouncedValue(
    {
      ...accessOf(source, '', organizationId),
      ...(source.revision === '' ? {} : { revision: source.revision.trim() }),
      ...(source.path === '' ? {} : { path: source.path.trim() }),
    },
    500,
  );
  const isRequested = origin === 'repository' && looksComplete(query.repository);
  const { data, error } = useRead('getPolicySchema', { query }, { enabled: isRequested });
  return { schema: data?.configurationSchema, error };
}

/** The schema of the policy that a form names. */
export function usePolicySchema(
  values: Pick<ApprovalPolicyValues, 'origin' | 'source' | 'folder'>,
): PolicySchema {
  const { data: catalogue = [] } = useRead('listCataloguePolicies');
  const read = useSchemaOfRepository(values);
  const catalogued = catalogue.find(({ path }) => path === values.folder)?.configurationSchema;
  const { schema, error } = values.origin === 'catalogue' ? { schema: catalogued, error: null } : read;
  const hasFields = configurationFields(schema).some(({ kind }) => kind !== 'other');
  return { schema, hasFields, error };
}
