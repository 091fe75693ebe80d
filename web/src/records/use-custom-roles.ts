/** The roles that an organization has made itself. */
import { useRead } from '../api/queries.ts';
import type { CustomRole } from './roles.ts';

/** Empty until they are read. */
export function useCustomRoles(organizationId: string): readonly CustomRole[] {
  return useRead('listRoles', { query: { organizationId } }).data ?? [];
}
