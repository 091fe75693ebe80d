/** Decides which folders of a commit discovery makes environments of. Runs in a thread. */
import { dirname } from 'node:path/posix';
import { codeFiles, copiesFolder } from '#protocol/tools/code-files.ts';
import { compileGlob } from './compile-glob.ts';
import type {
  MatchAnswer,
  MatchedFolder,
  MatchRule,
  PassedOverFolder,
  UnmatchedFolder,
} from './match-tasks.ts';
import { entriesOf, type ListedEntry } from './read-listing.ts';

const mostOtherFiles = 5;
const mostExplainedFiles = 10;
const mostPassedOver = 1000;

/** The service receives all in one message, which must not delay others. */
const mostFolders = 10_000;

function folderOf(path: string): string {
  const folder = dirname(path);
  return folder === '.' ? '' : folder;
}

function isBelow(path: string, rootPath: string): boolean {
  return rootPath === '' || path.startsWith(`${rootPath}/`);
}

interface FolderFiles {
  readonly file: string;
  readonly fileId: string;
  readonly otherFiles: string[];
}

/** A reason, or one of the two that need no sentence here: the thread explains those that the glob does not match. */
type Problem = { readonly reason: string } | 'unmatched' | 'no code';

class Findings {
  files = 0;
  readonly #matched = new Map<string, FolderFiles>();
  readonly #refused = new Map<string, PassedOverFolder>();
  readonly #unmatched = new Map<string, { readonly folder: string; readonly files: string[] }>();
  readonly #trees = new Map<string, string>();
  readonly #isMatch: (path: string) => boolean;
  readonly #rule: MatchRule;
  readonly #missing: Set<string>;

  constructor(rule: MatchRule) {
    this.#rule = rule;
    this.#isMatch = compileGlob(rule.globPattern);
    this.#missing = new Set(rule.known.map(({ file }) => file));
  }

  add(entry: ListedEntry): void {
    if (entry.kind === 'tree') {
      this.#trees.set(entry.path, entry.id);
      return;
    }
    if (entry.kind !== 'submodule') this.files++;
    this.#missing.delete(entry.path);
    const folder = folderOf(entry.path);
    const problem = this.#problemOf(entry);
    if (problem === null) this.#addMatch(folder, entry);
    else if (problem === 'unmatched') this.#addUnmatched(folder, entry.path);
    else if (problem !== 'no code' && !this.#refused.has(folder))
      this.#refused.set(folder, { folder, file: entry.path, ...problem });
  }

  /** Why an entry does not make its folder an environment; null if it does. */
  #problemOf(entry: ListedEntry): Problem | null {
    const { path, pathProblem, kind } = entry;
    const { paths, usual } = codeFiles[this.#rule.type];
    if (pathProblem !== undefined)
      return paths.test(path) || this.#isMatch(path)
        ? { reason: `${path} is not considered: ${pathProblem}` }
        : 'no code';
    if (kind === 'submodule')
      return this.#isMatch(`${path}/${usual}`)
        ? { reason: `${path} is a submodule, whose files are in another repository` }
        : 'no code';
    if (kind === 'link') return this.#problemOfLink(path, usual);
    const isMatch = this.#isMatch(path);
    const [, copies] = copiesFolder.exec(path) ?? [];
    if (copies !== undefined)
      return isMatch
        ? { reason: `${path} is in a folder ${copies}, which contains copies of other code` }
        : 'no code';
    if (!isMatch) return paths.test(path) ? 'unmatched' : 'no code';
    const { rootPath } = this.#rule;
    return isBelow(path, rootPath) ? null : { reason: `${path} is outside of rootPath ${rootPath}` };
  }

  #problemOfLink(path: string, usual: string): Problem {
    const matches = this.#isMatch(path);
    // A name without an extension may be a link to a folder.
    if (!matches && (/\.[^/]*$/.test(path) || !this.#isMatch(`${path}/${usual}`))) return 'no code';
    return { reason: `${path} is a symbolic link, which discovery does not follow` };
  }

  #addMatch(folder: string, { path, id }: ListedEntry): void {
    const found = this.#matched.get(folder);
    if (found === undefined) this.#matched.set(folder, { file: path, fileId: id, otherFiles: [] });
    else if (found.otherFiles.length < mostOtherFiles) found.otherFiles.push(path);
    if (this.#matched.size > mostFolders)
      throw new Error(
        `globPattern matches files in more than ${mostFolders} folders: narrow it, or set rootPath`,
      );
  }

  #addUnmatched(folder: string, path: string): void {
    const found = this.#unmatched.get(folder);
    if (found === undefined) this.#unmatched.set(folder, { folder, files: [path] });
    else if (found.files.length < mostExplainedFiles) found.files.push(path);
  }

  answer(): MatchAnswer {
    const passedOver = this.#passedOver();
    return {
      files: this.files,
      folders: byFolder(
        [...this.#matched].map(
          ([folder, found]): MatchedFolder => ({
            folder,
            ...found,
            treeId: this.#trees.get(folder) ?? '',
          }),
        ),
      ),
      passedOver: passedOver.slice(0, mostPassedOver),
      passedOverCount: passedOver.length,
      gone: this.#rule.known
        .filter(({ folder, file }) => this.#missing.has(file) && !this.#matched.has(folder))
        .map(({ folder }) => folder),
    };
  }

  /** The reason why one file is refused says more than that the glob does not match the other files of its folder. */
  #passedOver(): (PassedOverFolder | UnmatchedFolder)[] {
    const others = [...this.#unmatched.values()].filter(({ folder }) => !this.#refused.has(folder));
    return byFolder(
      [...this.#refused.values(), ...others].filter(({ folder }) => !this.#matched.has(folder)),
    );
  }
}

/** In the order of their code units, so that all scans have the same. */
function byFolder<Each extends { readonly folder: string }>(list: readonly Each[]): Each[] {
  return list.toSorted((left, right) =>
    left.folder < right.folder ? -1 : left.folder > right.folder ? 1 : 0,
  );
}

/**
 * @param listing output of `git ls-tree -r -t -z`, in pieces
 * @throws Error for a listing that cannot be read, a glob that is not valid, or one that matches too much
 */
export function matchListing(listing: readonly Uint8Array[], rule: MatchRule): MatchAnswer {
  const findings = new Findings(rule);
  for (const entry of entriesOf(listing)) findings.add(entry);
  return findings.answer();
}
