/** Address at which the command line waits for the end of a sign-in: on its own machine, never another one. */
import { badField } from '../../ground/errors.ts';

const loopbackHosts = new Set(['127.0.0.1', '[::1]']);

/**
 * @param field of the request, as `query.redirectUri`
 * @throws Refusal 400 for any address but http://127.0.0.1:port/ or http://[::1]:port/ with a path
 */
export function loopbackAddress(field: string, text: string): URL {
  const url = URL.parse(text);
  const isLoopback =
    url?.protocol === 'http:' &&
    loopbackHosts.has(url.hostname) &&
    url.port !== '' &&
    !url.username &&
    !url.hash;
  if (!isLoopback || url.password)
    throw badField(
      field,
      'must be http://127.0.0.1:<port>/… or http://[::1]:<port>/…: where the command line listens',
    );
  return url;
}
