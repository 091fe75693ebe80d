/** Globs of the files whose changes deploy an environment, from the one that its discovery has for all of them. */

const variable = /\$\{envarium_template_dir_(path|name|ancestors)\}(\/?)/g;

/** Everything that means something in a glob. The library reads several escaped backslashes as one. */
function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?+@!()[\]{}|,"'^$~<>=:]/g, (each) =>
    each === '\\' ? String.raw`[\\]` : `\\${each}`,
  );
}

/** The folder and all those above it, each with any file: an or-list, for a group of alternatives. */
function ancestorsOf(segments: readonly string[]): string {
  const paths = segments.map((_, index) => segments.slice(0, index + 1).join('/'));
  return paths.length === 0 ? '*' : paths.map((path) => `${path}/*`).join('|');
}

/** Whether a position is inside of parentheses, where an or-list needs none of its own. */
function isInGroup(glob: string, position: number): boolean {
  const before = glob.slice(0, position).replaceAll(/\\./g, '');
  return before.split('(').length > before.split(')').length;
}

/**
 * Replaces the variables of a glob. Characters in names of folders that mean something in globs are escaped. For the
 * root of the repository, path and name are left out with the slash that follows them.
 * @param autoDeployByCustomGlob of the discovery
 * @param folder of the environment's code, '' for the root of the repository
 */
export function deployGlobFor(autoDeployByCustomGlob: string, folder: string): string {
  const segments = folder === '' ? [] : folder.split('/').map(escapeGlob);
  return autoDeployByCustomGlob.replaceAll(variable, (_, name: string, slash: string, position: number) => {
    if (name === 'ancestors') {
      const list = ancestorsOf(segments);
      return `${isInGroup(autoDeployByCustomGlob, position) ? list : `@(${list})`}${slash}`;
    }
    if (segments.length === 0) return '';
    return `${name === 'path' ? segments.join('/') : segments.at(-1)}${slash}`;
  });
}
