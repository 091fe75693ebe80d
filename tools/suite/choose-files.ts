/** Selection of test files by the arguments of `npm test`. */

/** Arguments after `npm test --`. */
export interface Choice {
  readonly isQuick: boolean;
  readonly isSlow: boolean;
  readonly isChanged: boolean;
  /** Beginnings of paths; empty: all files. */
  readonly paths: readonly string[];
}

export function choiceOf(words: readonly string[]): Choice {
  const known = ['quick', 'slow', 'changed'];
  return {
    isQuick: words.includes('quick'),
    isSlow: words.includes('slow'),
    isChanged: words.includes('changed'),
    paths: words.filter((word) => !known.includes(word)).map((word) => word.replace(/^\.\//, '')),
  };
}

/** Whether everything but slow files runs, which includes the checks and builds the tools that tests need. */
export function isWhole({ isQuick, isSlow, isChanged, paths }: Choice): boolean {
  return !isQuick && !isSlow && !isChanged && paths.length === 0;
}

/** Whether types, lint and format are checked first. */
export function hasChecks({ isSlow, isChanged, paths }: Choice): boolean {
  return !isSlow && !isChanged && paths.length === 0;
}

export const isSlowTest = (file: string): boolean => file.endsWith('.slow.test.ts');

/**
 * Selects test files.
 * @param tests all of the repository
 * @param changed those that the difference from main reaches, used by `changed`
 */
export function chooseFiles(
  { isQuick, isSlow, isChanged, paths }: Choice,
  tests: readonly string[],
  changed: () => ReadonlySet<string>,
): string[] {
  const reached = isChanged ? changed() : null;
  return tests
    .filter((file) => !isQuick || !file.startsWith('acceptance/'))
    .filter((file) => (isSlowTest(file) ? isSlow || paths.includes(file) : !isSlow))
    .filter((file) => paths.length === 0 || paths.some((path) => file.startsWith(path)))
    .filter((file) => reached === null || reached.has(file));
}
