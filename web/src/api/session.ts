/** Current user, and the organization in which this tab works. */
import { useQuery } from '@tanstack/react-query';
import { client, setCsrfToken } from './client.ts';
import { isStatus } from './errors.ts';
import { queryClient, type Reply } from './queries.ts';
import { noteSessionEnd, noteSessionStart } from './session-end.ts';

export type SignedInUser = Reply<'getCurrentUser'>;

const currentUserKey = ['getCurrentUser'] as const;

/**
 * null: no one is signed in. A page stays that of the user who opened it: when the session ends it asks for
 * the sign-in, and when another person signs in it is loaded again.
 */
export const currentUser = {
  queryKey: currentUserKey,
  staleTime: 300_000,
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<SignedInUser | null> => {
    const before = queryClient.getQueryData<SignedInUser | null>(currentUserKey);
    try {
      const found = await client.call('getCurrentUser', { signal });
      if (before && before.user.user_id !== found.user.user_id) location.reload();
      setCsrfToken(found.session?.csrfToken);
      noteSessionStart();
      return found;
    } catch (error) {
      if (!isStatus(error, 401)) throw error;
      if (!before) setCsrfToken(undefined);
      else noteSessionEnd();
      return before ?? null;
    }
  },
};

const organizationKey = 'envarium.organization';

/**
 * The organization of this tab, which no other tab changes. A new tab begins in the one that was chosen last, else
 * in the first one.
 */
function organizationOf({ organizations }: SignedInUser): string {
  const own = sessionStorage.getItem(organizationKey);
  const chosen = own ?? localStorage.getItem(organizationKey);
  const { id = '' } = organizations.find(({ id }) => id === chosen) ?? organizations[0] ?? {};
  if (id !== own) sessionStorage.setItem(organizationKey, id);
  return id;
}

/** Works in another organization from now on, in this tab and in those that are opened later. */
export function chooseOrganization(id: string): void {
  sessionStorage.setItem(organizationKey, id);
  localStorage.setItem(organizationKey, id);
  queryClient.clear();
}

/** Current user, for pages behind the sign-in. */
export function useSession(): { readonly me: SignedInUser; readonly organizationId: string } {
  const { data } = useQuery(currentUser);
  if (!data) throw new Error('No one is signed in');
  return { me: data, organizationId: organizationOf(data) };
}

/** Ends the session. */
export async function signOut(): Promise<void> {
  await client.call('signOut').catch((error: unknown) => {
    if (!isStatus(error, 401)) throw error;
  });
  queryClient.clear();
  setCsrfToken(undefined);
  await queryClient.fetchQuery(currentUser);
}
