/** The variable that takes precedence over the other approval settings, who may set it, and what it cannot lift. */

import type { Actor } from '../../framework/access/actor.ts';
import { requireRight } from '../../framework/access/check-right.ts';
import type { ActorContext, Context } from '../../framework/context.ts';
import { badField } from '../../ground/errors.ts';
import type { Place } from '../../rows/places.ts';
import {
  openValue,
  placeOfScope,
  type ScopeOf,
  type VariableRow,
} from '../../rows/variables/variable-store.ts';
import {
  type DemandPlace,
  liftersIn,
  requireLift,
  standingDemands,
} from '../../tenancy/project-policies/lift-approval.ts';
import { policyDemands, projectDemands } from '../../tenancy/project-policies/project-demands.ts';
import type { VariableLevels } from './levels.ts';
import { type ResolvedVariable, resolvePrecedence, variableKey } from './precedence.ts';
import { readLevels } from './read-layers.ts';

export const approvalVariableName = 'ENVARIUM_REQUIRES_APPROVAL';

/** The variable as it holds for a run. */
export interface ApprovalVariable {
  /** Null: not set, or neither `true` nor `false`. */
  readonly value: boolean | null;
  /** Author; null: it comes from a set or a template, which others chose. */
  readonly setBy: string | null;
  /** Outer levels that say `true`, that no one with the right to do so has lifted. */
  readonly demands: readonly DemandPlace[];
}

type VariableReader = Pick<Context, 'db' | 'sealer'> & { readonly actor?: Actor };

const levelsOfOne = ['WORKFLOW', 'ENVIRONMENT', 'DEPLOYMENT'];
const chosenScopes = ['SET', 'BLUEPRINT', 'SUB_ENVIRONMENT_BLUEPRINT'];

function setterOf({ scope, user_id }: VariableRow): string | null {
  return chosenScopes.includes(scope) ? null : user_id;
}

/** The outer levels whose `true` holds. @param rows from the outermost to the innermost */
async function demandsOf(
  context: VariableReader,
  rows: readonly VariableRow[],
): Promise<readonly DemandPlace[]> {
  const statements = rows.flatMap((row) => {
    const isTrue = openValue(context, row) === 'true';
    // Variables of one environment itself are not a demand.
    if (isTrue && levelsOfOne.includes(row.scope)) return [];
    const templateId = row.scope === 'BLUEPRINT' ? row.scope_id : null;
    const place = { organizationId: row.organization_id, projectId: row.project_id, templateId };
    return [{ place, isDemand: isTrue, setBy: setterOf(row) }];
  });
  return standingDemands(statements, liftersIn(context));
}

/** @param resolved undefined: it is not set at any level */
export async function approvalVariableOf(
  context: VariableReader,
  resolved: ResolvedVariable<VariableRow> | undefined,
): Promise<ApprovalVariable> {
  if (resolved === undefined) return { value: null, setBy: null, demands: [] };
  const { winner, hidden } = resolved;
  const text = openValue(context, winner);
  return {
    value: text === 'true' ? true : text === 'false' ? false : null,
    setBy: setterOf(winner),
    demands: text === 'true' ? [] : await demandsOf(context, [...hidden, winner]),
  };
}

/** The levels whose `true` holds. @param levels from the outermost to the innermost, without those of an environment */
export async function variableDemands(
  context: VariableReader,
  levels: readonly ScopeOf[],
): Promise<readonly DemandPlace[]> {
  const { layers } = await readLevels(context.db, levels);
  const found = resolvePrecedence(layers).get(variableKey({ name: approvalVariableName, type: 0 }));
  return found ? demandsOf(context, [...found.hidden, found.winner]) : [];
}

/** Places that demand an approval of plans of an environment or a project. */
async function demandsAt(context: ActorContext, home: VariableLevels): Promise<DemandPlace[]> {
  const { organizationId, projectId, scope, scopeId, inherits } = home;
  if (projectId === null || scope === 'SET' || scope === 'BLUEPRINT') return [];
  const template = [...inherits, { scope, scopeId }].findLast((each) => each.scope === 'BLUEPRINT');
  const place = { organizationId, projectId, templateId: template?.scopeId ?? null };
  const [ofProject, ofPolicies] = await Promise.all([
    projectDemands(context, projectId),
    policyDemands(context.db, place),
  ]);
  return [...ofProject, ...ofPolicies];
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
  home: VariableLevels,
  values: GuardedValues,
  outer: ResolvedVariable<VariableRow> | undefined,
  field: string,
): Promise<void> {
  if (values.name !== approvalVariableName || values.type !== 0 || values.value === 'true') return;
  const place: Place = placeOfScope(home);
  const why = badField(field, `(${approvalVariableName})`).message;
  requireRight(context.actor, place, 'RUN_APPLY', why);
  if (values.value === null) return;
  const ofVariables = outer ? await demandsOf(context, [...outer.hidden, outer.winner]) : [];
  const others = values.value === 'false' ? await demandsAt(context, home) : [];
  requireLift(context.actor, [...ofVariables, ...others], why);
}
