/** Steps after every way to sign in. */
import { useNavigate } from '@tanstack/react-router';
import { queryClient } from '../../api/queries.ts';
import { chooseOrganization, currentUser } from '../../api/session.ts';
import { backOf } from './back.ts';

/** @returns what leads into the interface, as the person who has just signed in */
export function useEnter(): (back?: string, organizationId?: string) => Promise<void> {
  const navigate = useNavigate();
  return async (back, organizationId) => {
    if (organizationId !== undefined) chooseOrganization(organizationId);
    queryClient.clear();
    await queryClient.fetchQuery(currentUser);
    await navigate({ href: backOf(back), replace: true });
  };
}
