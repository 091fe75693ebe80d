/** Addresses of submodules that are relative to the repository that has them. */

/**
 * @param base the address of the outer repository
 * @param url as `.gitmodules` writes it
 * @returns the address; one that is not relative as it is
 * @throws an Error where it leads above the host's or the machine's root
 */
export function resolveSubmoduleUrl(base: string, url: string): string {
  if (!/^\.\.?(\/|$)/.test(url)) return url;
  const [, head = '', path = ''] =
    /^([A-Za-z][A-Za-z0-9+.-]*:\/\/[^/]*\/|[^/:]*@?(?:\[[^\]]*\]|[^/:]*):|\/)(.*)$/.exec(base) ?? [];
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  for (const segment of url.split('/').filter((each) => each !== '' && each !== '.')) {
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined)
      throw new Error('its address leads above the root of the repository’s host');
  }
  // `git@host:/path` and `git@host:path` are two places.
  const isRooted = path.startsWith('/') && !head.endsWith('/');
  return `${head}${isRooted ? '/' : ''}${segments.join('/')}`;
}
