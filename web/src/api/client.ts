/** The one client of this tab: the typed client of the interface with the browser's session. */
import { createClient } from '#contract/client/client.ts';

/** The address below which this interface is served, with a slash at its end. */
export const baseUrl = document.baseURI;
/** The path of the same, without a slash at its end. */
export const basePath = new URL(baseUrl).pathname.replace(/\/$/, '');

let csrfToken: string | undefined;

/** Keeps what calls of this session have to send; undefined: no one is signed in. */
export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}

export const client = createClient({ url: baseUrl, csrfToken: () => csrfToken });
