/** Projects as the tree that they are. */
import type { Project } from '#contract/projects/shapes.ts';

/** A project with those below it. */
export interface ProjectNode {
  readonly project: Project;
  readonly depth: number;
  readonly children: readonly ProjectNode[];
}

const byName = new Intl.Collator(undefined, { numeric: true });

/**
 * The tree of a flat list, by name on each level. Projects whose parent is not in the list are at the top.
 */
export function treeOf(projects: readonly Project[]): ProjectNode[] {
  const known = new Set(projects.map(({ id }) => id));
  const below = Map.groupBy(projects, ({ parentProjectId }) =>
    parentProjectId && known.has(parentProjectId) ? parentProjectId : '',
  );
  const nodesOf = (parent: string, depth: number): ProjectNode[] =>
    (below.get(parent) ?? [])
      .toSorted((one, other) => byName.compare(one.name, other.name))
      .map((project) => ({ project, depth, children: nodesOf(project.id, depth + 1) }));
  return nodesOf('', 0);
}

/** All nodes, each before those below it. */
export function flatten(nodes: readonly ProjectNode[]): ProjectNode[] {
  return nodes.flatMap((node) => [node, ...flatten(node.children)]);
}

/** The projects from the top to this one, as far as the list has them. */
export function wayTo(projects: readonly Project[], id: string): Project[] {
  const project = projects.find((each) => each.id === id);
  const ids = project?.hierarchy.split('|') ?? [];
  return ids.flatMap((each) => projects.find((other) => other.id === each) ?? []);
}

/** `platform / team`: a project with those above it. */
export function pathOf(projects: readonly Project[], id: string): string {
  return wayTo(projects, id)
    .map(({ name }) => name)
    .join(' / ');
}

/** Whether a project is another one, or below it. */
export function isWithin(project: Project, id: string): boolean {
  return project.hierarchy.split('|').includes(id);
}
