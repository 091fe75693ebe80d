/** Finds the place of a scope: what its variables inherit, and which right it needs to change or read them. */
import type { Right, VariableScope } from '#contract/schema/enumerations.ts';
import { viewRightAt } from '../../framework/access/access.ts';
import type { Actor } from '../../framework/access/actor.ts';
import type { Connection } from '../../framework/context.ts';
import { getSetRow } from '../../rows/configuration-sets/configuration-set-store.ts';
import { type FindHome, isUuid } from '../../rows/entity-home.ts';
import { getEnvironmentRow } from '../../rows/environments/environment-store.ts';
import { getOrganizationRow } from '../../rows/organizations/organization-store.ts';
import type { Place } from '../../rows/places.ts';
import { getProjectRow } from '../../rows/projects/project-store.ts';
import { getTemplateRow } from '../../rows/templates/template-store.ts';
import { getVariableRow, type ScopeOf, scopeOf } from '../../rows/variables/variable-store.ts';
import {
  environmentHome,
  projectLevels,
  splitSubAlias,
  storedScope,
  type VariableLevels,
  workflowHome,
} from './levels.ts';

/** A scope that exists, and who may do what with its variables. */
export interface FoundHome {
  readonly home: VariableLevels;
  readonly place: Place;
  readonly rightToView: Right;
  readonly rightToChange: Right;
  /** Whether the environment runs a workflow; only known in scope WORKFLOW. */
  readonly isWorkflow?: boolean;
}

async function ofOrganization(db: Connection, { scopeId }: ScopeOf): Promise<FoundHome | undefined> {
  const row = await getOrganizationRow(db, scopeId);
  return (
    row && {
      home: { scope: 'GLOBAL', scopeId, organizationId: row.id, projectId: null, inherits: [] },
      place: { organizationId: row.id, projectId: null, environmentId: null },
      rightToView: 'VIEW_ORGANIZATION',
      rightToChange: 'EDIT_ORGANIZATION_SETTINGS',
    }
  );
}

async function ofTemplate(db: Connection, { scope, scopeId }: ScopeOf): Promise<FoundHome | undefined> {
  const isAlias = scope === 'SUB_ENVIRONMENT_BLUEPRINT';
  const id = isAlias ? splitSubAlias(scopeId)?.templateId : scopeId;
  const row = id === undefined ? undefined : await getTemplateRow(db, id);
  if (!row) return undefined;
  const { organization_id: organizationId, project_id: projectId } = row;
  return {
    home: {
      ...{ scope, scopeId, organizationId, projectId },
      inherits: [
        { scope: 'GLOBAL', scopeId: organizationId },
        ...(isAlias ? [{ scope: 'BLUEPRINT', scopeId: row.id } as const] : []),
      ],
    },
    place: { organizationId, projectId, environmentId: null },
    rightToView: viewRightAt({ projectId }),
    rightToChange: row.is_single_use ? 'EDIT_VCS_ENVIRONMENT' : 'CREATE_AND_EDIT_TEMPLATES',
  };
}

async function ofProject(db: Connection, { scopeId }: ScopeOf): Promise<FoundHome | undefined> {
  const row = await getProjectRow(db, scopeId);
  if (!row) return undefined;
  const { organization_id: organizationId, id: projectId } = row;
  return {
    home: {
      ...{ scope: 'PROJECT', scopeId, organizationId, projectId },
      inherits: [{ scope: 'GLOBAL', scopeId: organizationId }, ...projectLevels(row.hierarchy).slice(0, -1)],
    },
    place: { organizationId, projectId, environmentId: null },
    rightToView: 'VIEW_PROJECT',
    rightToChange: 'EDIT_PROJECT_SETTINGS',
  };
}

async function ofEnvironment(db: Connection, { scope, scopeId }: ScopeOf): Promise<FoundHome | undefined> {
  const row = await getEnvironmentRow(db, scopeId);
  const project = row && (await getProjectRow(db, row.project_id));
  if (!row || !project) return undefined;
  const isOfWorkflow = scope === 'WORKFLOW';
  return {
    home: (isOfWorkflow ? workflowHome : environmentHome)(row, project.hierarchy),
    place: { organizationId: row.organization_id, projectId: row.project_id, environmentId: row.id },
    rightToView: 'VIEW_ENVIRONMENT',
    rightToChange: 'EDIT_ENVIRONMENT_SETTINGS',
    ...(isOfWorkflow ? { isWorkflow: (await getTemplateRow(db, row.template_id))?.type === 'workflow' } : {}),
  };
}

async function ofSet(db: Connection, { scopeId }: ScopeOf): Promise<FoundHome | undefined> {
  const row = await getSetRow(db, scopeId);
  if (!row) return undefined;
  const { organization_id: organizationId, project_id: projectId } = row;
  return {
    home: { scope: 'SET', scopeId, organizationId, projectId, inherits: [] },
    place: { organizationId, projectId, environmentId: null },
    rightToView: viewRightAt({ projectId }),
    rightToChange: projectId === null ? 'EDIT_ORGANIZATION_SETTINGS' : 'EDIT_PROJECT_SETTINGS',
  };
}

type Find = (db: Connection, scope: ScopeOf) => Promise<FoundHome | undefined>;

const nowhere: Find = () => Promise.resolve(undefined);

const finders: Readonly<Record<VariableScope, Find>> = {
  SET: ofSet,
  GLOBAL: ofOrganization,
  BLUEPRINT: ofTemplate,
  SUB_ENVIRONMENT_BLUEPRINT: ofTemplate,
  PROJECT: ofProject,
  WORKFLOW: ofEnvironment,
  ENVIRONMENT: ofEnvironment,
  DEPLOYMENT: nowhere,
};

/** @returns undefined for an id that nothing has */
export async function findHome(db: Connection, requestedScope: ScopeOf): Promise<FoundHome | undefined> {
  const scope = storedScope(requestedScope);
  const isId = isUuid(scope.scopeId) || scope.scope === 'SUB_ENVIRONMENT_BLUEPRINT';
  return isId ? finders[scope.scope](db, scope) : undefined;
}

/** Home of a variable: that of its scope. */
export const variableHome: FindHome = async (db, id) => {
  const row = await getVariableRow(db, id);
  return row && (await findHome(db, scopeOf(row)))?.place;
};

/** @returns undefined also for a scope in an organization that the caller does not belong to */
export async function findVisibleHome(
  db: Connection,
  { access }: Actor,
  scope: ScopeOf,
): Promise<FoundHome | undefined> {
  const found = await findHome(db, scope);
  return found && access.isMember(found.place.organizationId) ? found : undefined;
}
