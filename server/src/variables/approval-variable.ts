/** The variable that takes precedence over the other approval settings, who may set it, and what it cannot lift. */
import type { Place } from '../access/access.ts';
import { requireRight } from '../access/check-right.ts';
import type { ActorContext, Context } from '../context.ts';
import { policyProjects } from '../flows/assignment-store.ts';
import { badField } from '../http/errors.ts';
import { type DemandPlace, demandOf, requireLift } from '../policies/lift-approval.ts';
import { readSelfApprovalForbiddenIn } from '../policies/policy-store.ts';
import type { Home } from './levels.ts';
import { type Resolved, resolvePrecedence, variableKey } from './precedence.ts';
import { readLevels } from './read-layers.ts';
import { openValue, placeOfScope, type VariableRow } from './variable-store.ts';

export const approvalVariableName = 'ENVARIUM_REQUIRES_APPROVAL';

/** The variable as it holds for a run. */
export interface ApprovalVariable {
  /** Null: not set, or neither `true` nor `false`. */
  readonly value: boolean | null;
  /** Who set it; null: it comes from a set or a template, which others chose. */
  readonly setBy: string | null;
  /** Outer levels that say `true`. */
  readonly demands: readonly DemandPlace[];
}

const levelsOfOne = ['WORKFLOW', 'ENVIRONMENT', 'DEPLOYMENT'];
const chosenScopes = ['SET', 'BLUEPRINT', 'SUB_ENVIRONMENT_BLUEPRINT'];

function demandPlace({ organization_id, project_id }: VariableRow): DemandPlace {
  return { organizationId: organization_id, projectId: project_id };
}

/** The outer levels whose `true` must not be lost. */
function demandsOf(context: Pick<Context, 'sealer'>, rows: readonly VariableRow[]): DemandPlace[] {
  return rows
    .filter((row) => !levelsOfOne.includes(row.scope) && openValue(context, row) === 'true')
    .map(demandPlace);
}

/** @param resolved undefined: it is not set at any level */
export function approvalVariableOf(
  context: Pick<Context, 'sealer'>,
  resolved: Resolved<VariableRow> | undefined,
): ApprovalVariable {
  if (resolved === undefined) return { value: null, setBy: null, demands: [] };
  const { winner, hidden } = resolved;
  const text = openValue(context, winner);
  return {
    value: text === 'true' ? true : text === 'false' ? false : null,
    setBy: chosenScopes.includes(winner.scope) ? null : winner.user_id,
    demands: text === 'true' ? [] : demandsOf(context, hidden),
  };
}

/** The outer levels of a place that say `true`. */
export async function outerDemands(context: Context, home: Home): Promise<DemandPlace[]> {
  const { layers } = await readLevels(context.db, home.inherits);
  const outer = resolvePrecedence(layers).get(variableKey({ name: approvalVariableName, type: 0 }));
  return outer ? demandsOf(context, [...outer.hidden, outer.winner]) : [];
}

/** Where an approval of plans of an environment or a project is demanded. */
async function demandsAt({ db }: ActorContext, home: Home): Promise<DemandPlace[]> {
  const { organizationId, projectId, scope, scopeId, inherits } = home;
  if (projectId === null || scope === 'SET' || scope === 'BLUEPRINT') return [];
  const template = [...inherits, { scope, scopeId }].findLast((each) => each.scope === 'BLUEPRINT');
  const [forbiddenIn, policies] = await Promise.all([
    readSelfApprovalForbiddenIn(db, projectId),
    policyProjects(db, { projectId, templateId: template?.scopeId ?? projectId }),
  ]);
  const ofPolicies = policies.map((each) => ({ organizationId, projectId: each.projectId }));
  return [...demandOf(organizationId, forbiddenIn), ...ofPolicies];
}

interface GuardedValues {
  readonly name: string;
  readonly type: number;
  /** Null: removed. */
  readonly value: string | null;
}

/**
 * Continuing without approval requires the right to apply, whichever way it is requested; and where a project, an
 * organization or an approval policy demands the approval, the right to edit its settings.
 * @param values what is to be stored, or removed
 * @param outer the variable of outer levels
 * @param field location of the change in the request
 * @throws MissingRight 403 for a caller without these rights who sets the variable to anything but `true`, or
 * removes it
 */
export async function guardApprovalVariable(
  context: ActorContext,
  home: Home,
  values: GuardedValues,
  outer: Resolved<VariableRow> | undefined,
  field: string,
): Promise<void> {
  if (values.name !== approvalVariableName || values.type !== 0 || values.value === 'true') return;
  const place: Place = placeOfScope(home);
  const why = badField(field, `(${approvalVariableName})`).message;
  requireRight(context.actor, place, 'RUN_APPLY', why);
  if (values.value === null) return;
  const ofVariables = outer ? demandsOf(context, [...outer.hidden, outer.winner]) : [];
  const others = values.value === 'false' ? await demandsAt(context, home) : [];
  requireLift(context.actor, [...ofVariables, ...others], why);
}
