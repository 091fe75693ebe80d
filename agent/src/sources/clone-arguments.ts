/**
 * How much of a repository is cloned: by default one commit of one branch; ENVARIUM_GIT_CLONE_ARGS may change
 * it by the arguments of a list.
 */

export const cloneArgumentsName = 'ENVARIUM_GIT_CLONE_ARGS';

export interface CloneArguments {
  /** For `git clone`. */
  readonly clone: readonly string[];
  /** For the `git fetch` of one commit. */
  readonly fetch: readonly string[];
  /** Only the configuration's folder and the relative paths that it names are checked out. */
  readonly isSparse: boolean;
  /** The filter for contents fetched on demand, in git's notation; null: everything immediately. */
  readonly filter: string | null;
}

const usual: CloneArguments = {
  clone: ['--depth=1', '--single-branch', '--no-tags'],
  fetch: ['--depth=1', '--no-tags'],
  isSparse: false,
  filter: null,
};
const filterPattern = /^--filter=(blob:none|blob:limit=[0-9]{1,9}[kmg]?|tree:0)$/;

/** Allowed arguments, and whether `git fetch` knows them too. */
const allowed: readonly { readonly pattern: RegExp; readonly isForFetch: boolean }[] = [
  { pattern: /^--depth=[1-9][0-9]{0,8}$/, isForFetch: true },
  { pattern: /^--shallow-since=[0-9]{4}-[0-9]{2}-[0-9]{2}$/, isForFetch: true },
  { pattern: /^--(no-)?tags$/, isForFetch: true },
  { pattern: /^--(no-)?single-branch$/, isForFetch: false },
];
const allowedWords =
  '--depth=N, --shallow-since=YYYY-MM-DD, --tags, --no-tags, --single-branch, --no-single-branch, --sparse, --filter=blob:none';

/** Arguments that are always used, or have their own variable. */
const implied = /^--(no-)?(recurse-submodules|shallow-submodules|progress|quiet|verbose)$/;

/**
 * @param text the variable's value; undefined: the usual arguments
 * @throws an Error that names the refused argument
 */
export function readCloneArguments(text: string | undefined): CloneArguments {
  if (text === undefined) return usual;
  // `--depth 5` means `--depth=5`.
  const words = text
    .trim()
    .replaceAll(/(--(?:depth|shallow-since|filter))\s+(?=[^-\s])/g, '$1=')
    .split(/\s+/)
    .filter((word) => word !== '');
  const kept = words.filter((word) => !implied.test(word));
  const isOwn = (word: string) => word === '--sparse' || filterPattern.test(word);
  const ofGit = kept.filter((word) => !isOwn(word));
  const refused = ofGit.find((word) => !allowed.some(({ pattern }) => pattern.test(word)));
  if (refused !== undefined)
    throw new Error(`${cloneArgumentsName}: ${refused} is not allowed: use ${allowedWords}`);
  return {
    clone: ofGit,
    fetch: ofGit.filter((word) =>
      allowed.some(({ pattern, isForFetch }) => isForFetch && pattern.test(word)),
    ),
    isSparse: kept.includes('--sparse'),
    filter:
      kept.map((word) => filterPattern.exec(word)?.[1]).findLast((filter) => filter !== undefined) ?? null,
  };
}
