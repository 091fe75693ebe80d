/**
 * The files of a commit, read from git's objects. Symbolic links are followed inside the repository, and never
 * out of it.
 */
import { type GitAnswer, type GitPlace, runGit } from './run-git.ts';

export interface CommitTree {
  /** The id of the commit. */
  id(): Promise<string>;
  /** All paths, as `git ls-tree -r -t -z` writes them, in pieces. */
  listing(): Promise<readonly Uint8Array[]>;
  /** Names in a folder, sorted; null if it is not a folder. */
  namesIn(folder: string): Promise<string[] | null>;
  /** Texts by path: of those that are files, of at most `mostFileBytes`. */
  read(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

const mostFileBytes = 1_000_000;
const mostFiles = 500;

/** A file that cannot be read as configuration; the message names it. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

function tooLarge(path: string): UnreadableFile {
  return new UnreadableFile(`${path} has more than ${mostFileBytes} bytes`);
}

interface GitObject {
  readonly type: string;
  readonly size: number;
  readonly content: string;
}

interface CommitPlace {
  readonly place: GitPlace;
  readonly folder: string;
  readonly commit: string;
}

/** @throws UnreadableFile for a file that the host left out because of its size */
async function runIn(at: CommitPlace, args: readonly string[], input?: string): Promise<GitAnswer> {
  const answer = await runGit(at.place, {
    args: ['-C', at.folder, ...args],
    ...(input === undefined ? {} : { input }),
  });
  if (answer.exitCode === 0) return answer;
  const [, missing] = /could not fetch ([0-9a-f]{40,64}) from promisor remote/.exec(answer.complaints) ?? [];
  if (missing !== undefined) throw tooLarge(await pathOf(at, missing));
  throw new Error(`git ${args[0]} failed: ${answer.complaints.slice(-500)}`);
}

/** The first path of a file in the commit, by the file's id. */
async function pathOf(at: CommitPlace, id: string): Promise<string> {
  const { output } = await runIn(at, ['ls-tree', '-r', '-z', at.commit]);
  const entries = output.toString('utf8').split('\0');
  const entry = entries.find((each) => each.includes(` ${id}\t`));
  return entry?.slice(entry.indexOf('\t') + 1) ?? 'a file';
}

/**
 * @param folder a bare repository that holds the commit
 * @param commit its id, or a name that git has for it
 */
export function commitTree(place: GitPlace, folder: string, commit: string): CommitTree {
  const run = (args: readonly string[], input?: string) => runIn({ place, folder, commit }, args, input);
  const ask = async (option: '--batch' | '--batch-check', paths: readonly string[]) => {
    const input = paths.map((path) => `${commit}:${path}\n`).join('');
    const { output } = await run(['cat-file', '--follow-symlinks', option], input);
    return answersIn(output, paths, option === '--batch');
  };
  /** The tree of a folder, to which links may lead. */
  const treeOf = async (path: string) => {
    if (path === '') return `${commit}^{tree}`;
    const found = (await ask('--batch-check', [path])).get(path);
    return found?.type === 'tree' ? found.content : null;
  };
  const list = async (path: string) => {
    const tree = await treeOf(path);
    if (tree === null) return null;
    const { output } = await run(['ls-tree', '-z', '--name-only', tree]);
    const names = output.toString('utf8').split('\0');
    return names.filter((name) => name !== '' && !/[\n\r]/.test(name));
  };
  const listed = new Map<string, Promise<string[] | null>>();
  return {
    async id() {
      const { output } = await run(['rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`]);
      return output.toString('utf8').trim();
    },
    async listing() {
      const { parts } = await run(['ls-tree', '-r', '-t', '-z', '--full-tree', commit]);
      return parts;
    },
    namesIn(path) {
      const known = listed.get(path) ?? list(path);
      listed.set(path, known);
      return known;
    },
    async read(paths) {
      if (paths.length === 0) return new Map();
      if (paths.length > mostFiles)
        throw new UnreadableFile(`there are more than ${mostFiles} files to read`);
      const read = [...(await ask('--batch', paths))].filter(([, { type }]) => type === 'blob');
      const large = read.find(([, { size }]) => size > mostFileBytes);
      if (large !== undefined) throw tooLarge(large[0]);
      return new Map(read.map(([path, { content }]) => [path, content]));
    },
  };
}

/**
 * Reads git's answers, in the order of the questions: `<id> <type> <size>`, with the content where it was
 * requested, or `<reason> <size>` with a path for links that lead nowhere, or `… missing`.
 */
function answersIn(output: Buffer, paths: readonly string[], hasContent: boolean): Map<string, GitObject> {
  const found = new Map<string, GitObject>();
  let at = 0;
  for (const path of paths) {
    const end = output.indexOf(10, at);
    if (end < 0) break;
    const line = output.toString('utf8', at, end);
    at = end + 1;
    const [, id, type, size = '0'] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(line) ?? [];
    if (id !== undefined && type !== undefined) {
      const content = hasContent ? output.toString('utf8', at, at + Number(size)) : id;
      if (hasContent) at += Number(size) + 1;
      found.set(path, { type, size: Number(size), content });
      continue;
    }
    const [, length] = /^(?:symlink|loop|dangling|notdir) (\d+)$/.exec(line) ?? [];
    if (length !== undefined) at += Number(length) + 1;
  }
  return found;
}
