/** Folders of a repository as a tree whose rows can be closed. */

/** Anything that is known about a folder. */
export interface OfFolder {
  /** Path in the repository; empty: its root. */
  readonly folder: string;
}

/** The path of a folder in the tree; entries of discovery files are below their repository. */
export function treePath({ repository, folder }: OfFolder & { readonly repository?: string }): string {
  if (repository === undefined) return folder;
  const top = repository.replace(/^\//, '');
  return folder === '' ? top : `${top}/${folder}`;
}

export interface FolderNode<Entry extends OfFolder> {
  readonly path: string;
  /** The part of the path that this row adds, such as `prod/eu`. */
  readonly label: string;
  readonly depth: number;
  /** Absent: nothing is known about the folder itself. */
  readonly entry: Entry | undefined;
  readonly children: readonly FolderNode<Entry>[];
  /** Entries below it. */
  readonly count: number;
}

interface OpenFolder<Entry> {
  entry?: Entry;
  readonly below: Map<string, OpenFolder<Entry>>;
}

function gathered<Entry extends OfFolder>(entries: readonly Entry[]): OpenFolder<Entry> {
  const root: OpenFolder<Entry> = { below: new Map() };
  for (const entry of entries) {
    let at = root;
    for (const part of entry.folder === '' ? [] : entry.folder.split('/')) {
      const next = at.below.get(part) ?? { below: new Map() };
      at.below.set(part, next);
      at = next;
    }
    at.entry = entry;
  }
  return root;
}

/** Folders that contain only one other folder share a row with it. */
function nodeOf<Entry extends OfFolder>(
  folder: OpenFolder<Entry>,
  path: string,
  label: string,
  depth: number,
): FolderNode<Entry> {
  const [only] = folder.below;
  if (folder.entry === undefined && only !== undefined && folder.below.size === 1)
    return nodeOf(only[1], `${path}/${only[0]}`, `${label}/${only[0]}`, depth);
  const children = nodesOf(folder, path, depth + 1);
  const count = children.reduce((sum, child) => sum + child.count + (child.entry ? 1 : 0), 0);
  return { path, label, depth, entry: folder.entry, children, count };
}

function nodesOf<Entry extends OfFolder>(
  { below }: OpenFolder<Entry>,
  path: string,
  depth: number,
): FolderNode<Entry>[] {
  return [...below].map(([name, folder]) =>
    nodeOf(folder, path === '' ? name : `${path}/${name}`, name, depth),
  );
}

/**
 * @param entries sorted by their path; the tree keeps their order
 * @returns the topmost rows; the root of the repository is one of them if it has an entry
 */
export function folderTree<Entry extends OfFolder>(entries: readonly Entry[]): FolderNode<Entry>[] {
  const root = gathered(entries);
  const nodes = nodesOf(root, '', 0);
  if (root.entry === undefined) return nodes;
  const ofRoot = { path: '', label: '', depth: 0, entry: root.entry, children: [], count: 0 };
  return [ofRoot, ...nodes];
}

/** The rows in sight, from top to bottom. @param closed paths of rows that hide what is below them */
export function shownNodes<Entry extends OfFolder>(
  nodes: readonly FolderNode<Entry>[],
  closed: ReadonlySet<string>,
): FolderNode<Entry>[] {
  return nodes.flatMap((node) => [node, ...(closed.has(node.path) ? [] : shownNodes(node.children, closed))]);
}
