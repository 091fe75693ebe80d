/** Permissions of each right, in groups, for people who choose or read rights. */
import type { Right } from '#contract/schema/rights.ts';

export interface RightGroup {
  readonly name: string;
  readonly rights: readonly (readonly [right: Right, text: string])[];
}

export const rightGroups: readonly RightGroup[] = [
  {
    name: 'Organization',
    rights: [
      [
        'VIEW_ORGANIZATION',
        'See its settings, members, teams, roles and templates, and the names of credentials.',
      ],
      [
        'EDIT_ORGANIZATION_SETTINGS',
        'Change settings and policies; manage members, teams, keys, credentials and agents.',
      ],
      ['CREATE_CUSTOM_ROLES', 'Create, change and delete roles.'],
      ['VIEW_AUDIT_LOGS', 'Read, export and verify the audit trail.'],
      ['VIEW_DASHBOARD', 'Without effect so far.'],
      ['MANAGE_BILLING', 'Without effect so far.'],
    ],
  },
  {
    name: 'Sources',
    rights: [
      ['CREATE_AND_EDIT_TEMPLATES', 'Create, change and delete templates.'],
      ['VIEW_MODULES', 'See the modules of the registry.'],
      ['CREATE_AND_EDIT_MODULES', 'Publish, change and delete modules.'],
      ['VIEW_PROVIDERS', 'See the providers of the registry.'],
      ['CREATE_AND_EDIT_PROVIDERS', 'Publish, change and delete providers and their keys.'],
    ],
  },
  {
    name: 'Projects',
    rights: [
      ['VIEW_PROJECT', 'See projects and their policies.'],
      ['CREATE_PROJECT', 'Create projects, also below others.'],
      [
        'EDIT_PROJECT_SETTINGS',
        'Change, move and archive projects; set policies, roles and credentials in them.',
      ],
      ['MANAGE_PROJECT_TEMPLATES', 'Choose which templates a project offers.'],
      ['CREATE_CROSS_PROJECT_ENVIRONMENTS', 'Without effect so far.'],
      ['OVERRIDE_MAX_ENVIRONMENT_PROJECT_LIMITS', 'Without effect so far.'],
    ],
  },
  {
    name: 'Environments',
    rights: [
      ['VIEW_ENVIRONMENT', 'See environments, deployments, plans, logs and outputs.'],
      ['EDIT_ENVIRONMENT_SETTINGS', 'Change name, variables, lifetime and schedules.'],
      ['CREATE_VCS_ENVIRONMENT', 'Create environments from a repository, without a template.'],
      ['EDIT_VCS_ENVIRONMENT', 'Change repository and path of such environments.'],
      ['ARCHIVE_ENVIRONMENT', 'Archive, restore and delete environments.'],
      ['MOVE_ENVIRONMENTS', 'Move environments to another project.'],
      ['IMPORT_ENVIRONMENTS', 'Without effect so far.'],
      ['OVERRIDE_MAX_TTL', 'Let an environment live longer than the policy allows.'],
      ['MANAGE_ENVIRONMENT_LOCK', 'Lock and unlock environments.'],
      ['ASSIGN_ROLE_ON_ENVIRONMENT', 'Assign and remove roles in a single environment.'],
    ],
  },
  {
    name: 'Deployments',
    rights: [
      ['RUN_PLAN', 'Start deployments that wait for approval, and cancel them.'],
      ['RUN_APPLY', 'Approve plans, deploy without approval, and set schedules.'],
      ['ABORT_DEPLOYMENT', 'Stop a deployment that runs.'],
      ['RUN_TASK', 'Run commands on the code and the state of an environment.'],
      ['EDIT_ALLOW_REMOTE_APPLY', 'Allow applies from a terminal.'],
    ],
  },
  {
    name: 'State',
    rights: [
      ['READ_STATE', 'Read state versions, which may contain secrets.'],
      ['WRITE_STATE', 'Upload, roll back, promote and delete state versions.'],
      ['FORCE_UNLOCK_WORKSPACE', 'Unlock the state, and release a deployment that is stuck.'],
    ],
  },
];
