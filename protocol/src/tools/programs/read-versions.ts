/** Versions in what programs print and publishers list. */

/**
 * The first version in a program's output, without `v` and without what a build adds behind `+`.
 * @throws Error if there is none
 */
export function firstVersion(output: string): string {
  const version = /(?:^|[^\w.])v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)/.exec(output)?.[1];
  if (version === undefined)
    throw new Error(`its output contains no version: ${JSON.stringify(output.slice(0, 200))}`);
  return version;
}

/**
 * The versions of an index that is a text, one in each line. That of a publisher has one line, a mirror's may
 * have more.
 * @throws Error if a line is anything else
 */
export function versionLines(text: string): string[] {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const versions = lines.map((line) => /^v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/.exec(line)?.[1]);
  const known = versions.filter((version) => version !== undefined);
  if (known.length === 0 || known.length < lines.length) throw new Error('it is not a list of versions');
  return known;
}
