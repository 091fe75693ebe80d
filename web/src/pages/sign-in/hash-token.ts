/** Secrets that arrive behind the `#` of an address, where no server and no log sees them. */
import { useEffect, useState } from 'react';

/** The text behind `#`, which is removed from the address at once. */
export function useHashSecret(): string {
  const [secret] = useState(() => decodeURIComponent(location.hash.slice(1)));
  useEffect(() => {
    if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search);
  }, []);
  return secret;
}

/** Id and secret of a key in the form `<id>:<secret>`; undefined: the text has another form. */
export function keyOf(text: string): { readonly key: string; readonly secret: string } | undefined {
  const [, key, secret] = /^([^:\s]+):(\S+)$/.exec(text.trim()) ?? [];
  return key === undefined || secret === undefined ? undefined : { key, secret };
}

const invitationKey = 'envarium.invitation';

/** Keeps the token of an invitation in this tab while its person signs in. */
export function keepInvitation(token: string): void {
  sessionStorage.setItem(invitationKey, token);
}

/** The kept token; empty: there is none. */
export function keptInvitation(): string {
  return sessionStorage.getItem(invitationKey) ?? '';
}

/** The token was used. */
export function forgetInvitation(): void {
  sessionStorage.removeItem(invitationKey);
}
