/** Rights of each built-in role, by the scope of its assignment. */
import { type Right, rights } from './rights.ts';

export type RoleScope = 'organization' | 'project' | 'environment';

const organizationUser = ['VIEW_ORGANIZATION', 'VIEW_MODULES', 'VIEW_PROVIDERS'] as const;

const viewer = [...organizationUser, 'VIEW_PROJECT', 'VIEW_ENVIRONMENT', 'READ_STATE'] as const;

const planner = [...viewer, 'RUN_PLAN'] as const;

const deployer = [
  ...planner,
  'RUN_APPLY',
  'EDIT_ENVIRONMENT_SETTINGS',
  'WRITE_STATE',
  'ABORT_DEPLOYMENT',
] as const;

const environmentAdmin = [
  ...deployer,
  'RUN_TASK',
  'ARCHIVE_ENVIRONMENT',
  'MANAGE_ENVIRONMENT_LOCK',
  'OVERRIDE_MAX_TTL',
  'FORCE_UNLOCK_WORKSPACE',
  'ASSIGN_ROLE_ON_ENVIRONMENT',
  'EDIT_ALLOW_REMOTE_APPLY',
] as const;

const projectAdmin = [
  ...environmentAdmin,
  'EDIT_PROJECT_SETTINGS',
  'MANAGE_PROJECT_TEMPLATES',
  'CREATE_CROSS_PROJECT_ENVIRONMENTS',
  'OVERRIDE_MAX_ENVIRONMENT_PROJECT_LIMITS',
  'CREATE_PROJECT',
  'CREATE_VCS_ENVIRONMENT',
  'EDIT_VCS_ENVIRONMENT',
  'IMPORT_ENVIRONMENTS',
] as const;

/** The rights of the built-in roles, by the place that a role is assigned in and by its name. */
export const builtInRoles = {
  organization: { Admin: rights, User: organizationUser },
  project: { Admin: projectAdmin, Deployer: deployer, Planner: planner, Viewer: viewer },
  environment: { Admin: environmentAdmin, Deployer: deployer, Planner: planner, Viewer: viewer },
} as const satisfies Record<RoleScope, Record<string, readonly Right[]>>;
