/** Resolves addresses of submodules that are relative to their repository. */

/**
 * @param base the address of the outer repository
 * @param url as in `.gitmodules`
 * @returns the address; unchanged if not relative
 * @throws an Error if it leads above the host's or the machine's root
 */
export function resolveSubmoduleUrl(base: string, url: string): string {
  if (!/^\.\.?(\/|$)/.test(url)) return url;
  const [, head = '', path = ''] =
    /^([A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*\/|[^/:[]*(?:\[[^\]]*\])?:|\/)(.*)$/.exec(base) ?? [];
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  for (const segment of url.split('/').filter((each) => each !== '' && each !== '.')) {
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined)
      throw new Error('its address leads above the root of the repository’s host');
  }
  // `git@host:/path` and `git@host:path` differ.
  const isRooted = path.startsWith('/') && !head.endsWith('/');
  return `${head}${isRooted ? '/' : ''}${segments.join('/')}`;
}
