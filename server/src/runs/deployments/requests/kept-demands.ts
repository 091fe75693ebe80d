/** Approval demands before a change of place or template that would be lifted by the change. */
import type { Actor } from '../../../framework/access/actor.ts';
import type { ActorContext, Context } from '../../../framework/context.ts';
import type { MovingProject } from '../../../framework/reactions.ts';
import { variableDemands } from '../../../inputs/variables/approval-variable.ts';
import { type EnvironmentPlace, environmentHome, projectLevels } from '../../../inputs/variables/levels.ts';
import { getProjectRow, getProjectRows } from '../../../rows/projects/project-store.ts';
import type { ScopeOf } from '../../../rows/variables/variable-store.ts';
import { type DemandPlace, liftersIn, requireLift } from '../../../tenancy/project-policies/lift-approval.ts';
import { policyDemands, projectDemands } from '../../../tenancy/project-policies/project-demands.ts';

/** A demand, with what makes it. */
interface Demand extends DemandPlace {
  /** Of an approval policy, its id. */
  readonly by: string;
}

type Reading = Pick<Context, 'db' | 'sealer'> & { readonly actor: Actor };

interface Demanding {
  readonly organizationId: string;
  readonly projectId: string;
  /** Null: of any template. */
  readonly templateId: string | null;
  /** The levels whose variables hold there, without those of an environment. */
  readonly levels: readonly ScopeOf[];
}

async function demandsIn(context: Reading, place: Demanding): Promise<Demand[]> {
  const [ofProject, ofPolicies, ofVariables] = await Promise.all([
    projectDemands(context, place.projectId),
    policyDemands(context.db, place),
    variableDemands(context, place.levels),
  ]);
  return [
    ...ofProject.map((each) => ({ ...each, by: 'selfApprovalForbidden' })),
    ...ofPolicies.map(({ policyId, ...each }) => ({ ...each, by: policyId })),
    ...ofVariables.map((each) => ({ ...each, by: 'variable' })),
  ];
}

/**
 * Demands of approvals for plans of an environment, as the database has them now, without those of the
 * environment itself.
 */
export async function demandsOnEnvironment(
  context: Reading,
  environment: EnvironmentPlace,
): Promise<readonly Demand[]> {
  const { organization_id: organizationId, project_id: projectId, template_id: templateId } = environment;
  const project = await getProjectRow(context.db, projectId);
  const outside: readonly string[] = ['GLOBAL', 'BLUEPRINT', 'PROJECT'];
  const levels = environmentHome(environment, project?.hierarchy ?? projectId).inherits;
  const own = levels.filter(({ scope }) => outside.includes(scope));
  return demandsIn(context, { organizationId, projectId, templateId, levels: own });
}

/** Demands of approvals for plans of everything in a project. */
async function demandsOnProject(context: Reading, projectId: string): Promise<readonly Demand[]> {
  const project = await getProjectRow(context.db, projectId);
  if (!project) return [];
  const { organization_id: organizationId, hierarchy } = project;
  const levels: ScopeOf[] = [{ scope: 'GLOBAL', scopeId: organizationId }, ...projectLevels(hierarchy)];
  return demandsIn(context, { organizationId, projectId, templateId: null, levels });
}

/** Whether a demand is the same as another one. A template keeps its demands where it goes along with an environment. */
function isSame(one: Demand, other: Demand): boolean {
  const isSameTemplate = Boolean(one.templateId) && one.templateId === other.templateId;
  return one.by === other.by && (isSameTemplate || one.projectId === other.projectId);
}

/**
 * The demands that a change loses: the same of the same place, or of a place above it, keeps one.
 * @param after as they are after the change
 */
async function lostDemands(
  { db }: Pick<Context, 'db'>,
  before: readonly Demand[],
  after: readonly Demand[],
): Promise<readonly Demand[]> {
  const missing = before.filter((each) => !after.some((other) => isSame(each, other)));
  const ids = missing.flatMap(({ projectId }) => (projectId === null ? [] : [projectId]));
  const rows = await getProjectRows(db, ids);
  const pathOf = (id: string | null) => rows.find((row) => row.id === id)?.hierarchy.split('|') ?? [];
  return missing.filter(
    ({ by, projectId }) =>
      !after.some(
        (other) =>
          other.by === by && (other.projectId === null || pathOf(projectId).includes(other.projectId)),
      ),
  );
}

/**
 * @param why the change that would lift them
 * @param proposedBy id of the user who proposed it, if the caller approves it: either of them may have the right
 * @throws MissingRight 403 for a caller who may not edit the settings of what demands an approval and would be lost
 */
export async function requireKept(
  context: Pick<ActorContext, 'db' | 'actor'>,
  before: readonly Demand[],
  after: readonly Demand[],
  why: string,
  proposedBy: string | null = null,
): Promise<void> {
  const lost = await lostDemands(context, before, after);
  requireLift(context.actor, await liftersIn(context)(proposedBy, lost), why);
}

/** A project that moves, with everything below it, does not leave what demands approvals. @throws MissingRight 403 */
export async function keepDemandsOfProject(
  context: Context,
  { projectId, by, afterwards }: MovingProject,
): Promise<void> {
  const mover = { ...context, ...by };
  const before = await demandsOnProject(mover, projectId);
  afterwards(async () => {
    const after = await demandsOnProject(mover, projectId);
    await requireKept(mover, before, after, 'Moving the project away from what demands approvals');
  });
}
