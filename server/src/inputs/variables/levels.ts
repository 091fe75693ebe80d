/** The levels whose variables hold at a place, from the outermost to the innermost. Pure. */
import type { ScopeOf, VariableHome } from '../../rows/variables/variable-store.ts';

/** A place whose variables hold together with those of outer levels. */
export interface VariableLevels extends VariableHome {
  /** Outer levels whose variables hold here too, outermost first. */
  readonly inherits: readonly ScopeOf[];
}

/** Facts that determine the levels of an environment. */
export interface EnvironmentPlace {
  readonly id: string;
  readonly organization_id: string;
  readonly project_id: string;
  readonly template_id: string;
}

/** @param hierarchy ids of a project and those above it, as the project has them */
export function projectLevels(hierarchy: string): ScopeOf[] {
  return hierarchy.split('|').map((scopeId) => ({ scope: 'PROJECT', scopeId }));
}

/** The id of a template and the name of a sub-environment in a scope id, if it has both. */
export function splitSubAlias(scopeId: string): { templateId: string; alias: string } | undefined {
  const colon = scopeId.indexOf(':');
  const alias = scopeId.slice(colon + 1);
  return colon < 1 || alias === '' ? undefined : { templateId: scopeId.slice(0, colon), alias };
}

/** The scope as it is stored: ids are in lower case, and names of sub-environments stay as they are. */
export function storedScope({ scope, scopeId }: ScopeOf): ScopeOf {
  const { templateId, alias } =
    (scope === 'SUB_ENVIRONMENT_BLUEPRINT' ? splitSubAlias(scopeId) : undefined) ?? {};
  return {
    scope,
    scopeId: templateId === undefined ? scopeId.toLowerCase() : `${templateId.toLowerCase()}:${alias}`,
  };
}

function outside(environment: EnvironmentPlace, hierarchy: string): ScopeOf[] {
  return [
    { scope: 'GLOBAL', scopeId: environment.organization_id },
    { scope: 'BLUEPRINT', scopeId: environment.template_id },
    ...projectLevels(hierarchy),
  ];
}

function homeIn(environment: EnvironmentPlace, scope: 'WORKFLOW' | 'ENVIRONMENT') {
  return {
    scope,
    scopeId: environment.id,
    organizationId: environment.organization_id,
    projectId: environment.project_id,
  };
}

/**
 * Levels with the variables of an environment.
 * @param hierarchy of its project
 */
export function environmentHome(environment: EnvironmentPlace, hierarchy: string): VariableLevels {
  const { inherits, ...workflow } = workflowHome(environment, hierarchy);
  return {
    ...homeIn(environment, 'ENVIRONMENT'),
    inherits: [...inherits, { scope: workflow.scope, scopeId: workflow.scopeId }],
  };
}

/** Levels with the variables that a workflow passes to its sub-environments. */
export function workflowHome(environment: EnvironmentPlace, hierarchy: string): VariableLevels {
  return { ...homeIn(environment, 'WORKFLOW'), inherits: outside(environment, hierarchy) };
}

/** All levels of a home, its own last. */
export function levelsOf(home: VariableLevels): ScopeOf[] {
  return [...home.inherits, { scope: home.scope, scopeId: home.scopeId }];
}
