/** Sets of a project do not leave it: what they are assigned to stays in that project. */
import type { Context } from '../../framework/context.ts';
import type { MovingProject } from '../../framework/reactions.ts';
import { conflict, type Refusal } from '../../ground/errors.ts';
import {
  type AssignmentScope,
  assignmentsOfSetsIn,
} from '../../rows/configuration-sets/configuration-set-store.ts';
import { getEnvironmentRows } from '../../rows/environments/environment-store.ts';
import { projectPath, projectsBelow } from '../../rows/projects/project-store.ts';
import { getTemplateRows } from '../../rows/templates/template-store.ts';

type ReadContext = Pick<Context, 'db'>;

function leaves({ name, scope, scopeId }: AssignmentScope & { readonly name: string }): Refusal {
  return conflict(
    `The configuration set "${name}" belongs to a project that this would leave, and is assigned to ${scope} ${scopeId}: unassign it first`,
  );
}

/** @throws Refusal 409 for a project with assignments below it of sets of projects that it leaves */
export async function refuseLeavingSets(
  context: ReadContext,
  { projectId, left }: MovingProject,
): Promise<void> {
  const assignments = await assignmentsOfSetsIn(context.db, left);
  if (assignments.length === 0) return;
  const moved = new Set((await projectsBelow(context.db, [projectId])).map(({ id }) => id));
  const idsOf = (scope: AssignmentScope['scope']) => [
    ...new Set(assignments.filter((each) => each.scope === scope).map(({ scopeId }) => scopeId)),
  ];
  const [environments, templates] = await Promise.all([
    getEnvironmentRows(context.db, idsOf('environment')),
    getTemplateRows(context.db, idsOf('template')),
  ]);
  const inside = [...environments, ...templates].filter((row) => row.project_id && moved.has(row.project_id));
  const own = new Set([...moved, ...inside.map(({ id }) => id)]);
  const leaving = assignments.find(({ scopeId }) => own.has(scopeId));
  if (leaving) throw leaves(leaving);
}

/**
 * @param environment that moves to another project
 * @throws Refusal 409 where it, or a template that moves along, has a set of a project that it leaves
 */
export async function refuseLeavingSetsOf(
  { db }: ReadContext,
  environment: { readonly id: string; readonly project_id: string; readonly template_id: string },
  target: { readonly hierarchy: string },
): Promise<void> {
  const above = target.hierarchy.split('|');
  const left = (await projectPath(db, environment.project_id)).filter(({ id }) => !above.includes(id));
  const assignments = await assignmentsOfSetsIn(
    db,
    left.map(({ id }) => id),
  );
  const { id, template_id: templateId } = environment;
  const own = assignments.find(
    ({ scope, scopeId }) =>
      (scope === 'environment' && scopeId === id) || (scope === 'template' && scopeId === templateId),
  );
  if (own) throw leaves(own);
}
