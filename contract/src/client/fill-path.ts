/**
 * A path with its parameters filled in.
 * @param path as operations declare it, with parameters as `{name}`
 * @throws TypeError for a parameter that is missing or empty: the path would be another operation's
 */
export function fillPath(path: string, params: Readonly<Record<string, string | undefined>> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined || value === '') throw new TypeError(`The path ${path} needs "${name}"`);
    return encodeURIComponent(value);
  });
}
