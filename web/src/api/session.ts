/** Who is signed in, and in which organization this tab works. */
import { useQuery } from '@tanstack/react-query';
import { client, setCsrfToken } from './client.ts';
import { isStatus } from './errors.ts';
import { type Reply, queryClient } from './queries.ts';

export type CurrentUser = Reply<'getCurrentUser'>;

/** null: nobody is signed in. */
export const currentUser = {
  queryKey: ['getCurrentUser'] as const,
  staleTime: 300_000,
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<CurrentUser | null> => {
    try {
      const found = await client.call('getCurrentUser', { signal });
      setCsrfToken(found.session?.csrfToken);
      return found;
    } catch (error) {
      if (!isStatus(error, 401)) throw error;
      setCsrfToken(undefined);
      return null;
    }
  },
};

const organizationKey = 'envarium.organization';

/** The organization that this person chose last, else the first one. */
export function organizationOf({ organizations }: CurrentUser): string {
  const chosen = localStorage.getItem(organizationKey);
  const found = organizations.find(({ id }) => id === chosen) ?? organizations[0];
  return found?.id ?? '';
}

/** Works in another organization from now on. */
export function chooseOrganization(id: string): void {
  localStorage.setItem(organizationKey, id);
  queryClient.clear();
}

/** Who is signed in, for pages behind the sign-in. */
export function useSession(): { readonly me: CurrentUser; readonly organizationId: string } {
  const { data } = useQuery(currentUser);
  if (!data) throw new Error('Nobody is signed in');
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
