/** Visible part of the tree of projects. */
import type { Project } from '#contract/projects/shapes.ts';
import { flatten, type ProjectNode, treeOf } from '../../forms/project-tree.ts';

/** The tree of all projects whose name, description or tags contain a text, with those above them. */
export function shownTree(projects: readonly Project[], text: string): ProjectNode[] {
  const part = text.trim().toLowerCase();
  if (part === '') return treeOf(projects);
  const found = projects.filter(({ name, description, tags }) =>
    [name, description, ...tags].some((each) => each.toLowerCase().includes(part)),
  );
  const ids = new Set(found.flatMap(({ hierarchy }) => hierarchy.split('|')));
  return treeOf(projects.filter(({ id }) => ids.has(id)));
}

/** Below this number, the whole tree is open at first. */
const openUpTo = 60;

/** Nodes that are open at first. */
export function openAtFirst(nodes: readonly ProjectNode[]): Set<string> {
  const all = flatten(nodes);
  return new Set(all.length <= openUpTo ? all.map(({ project }) => project.id) : []);
}

/** The nodes that are in sight: those below a closed one are not. */
export function visibleNodes(nodes: readonly ProjectNode[], open: ReadonlySet<string>): ProjectNode[] {
  return nodes.flatMap((node) => [
    node,
    ...(open.has(node.project.id) ? visibleNodes(node.children, open) : []),
  ]);
}
