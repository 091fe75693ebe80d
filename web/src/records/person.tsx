/** People and keys as texts. */
import type { Reply } from '../api/queries.ts';

export type MemberUser = Reply<'listMembers'>[number]['user'];

/** Display name of a person; never empty. */
export function nameOfUser(user: MemberUser | undefined): string {
  return user?.name || user?.email || user?.user_id || 'Unknown';
}

/** Whether it is a key and no person. */
export function isKey(user: MemberUser | undefined): boolean {
  return user?.app_metadata?.isApiKey === true;
}

/** A name with what tells it apart from another of the same name. */
export function Person({ user }: { readonly user: MemberUser | undefined }) {
  const name = nameOfUser(user);
  const more = isKey(user) ? 'API key' : user?.email === name ? undefined : user?.email;
  return (
    <>
      <bdi>{name}</bdi>
      {more !== undefined && (
        <>
          {' '}
          <span style={{ color: 'var(--e-ink-3)' }}>
            <bdi>{more}</bdi>
          </span>
        </>
      )}
    </>
  );
}
