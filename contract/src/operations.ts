/** Every operation of the interface, by name: one entry per file of operations, in the order of the reference. */
import { operations as agents } from './agents/operations.ts';
import { operations as apiKeys } from './api-keys/operations.ts';
import { operations as approvalPolicies } from './approval-policies/operations.ts';
import { operations as verdicts } from './approval-policies/verdict-operations.ts';
import { operations as audit } from './audit/operations.ts';
import { operations as bulkOperations } from './bulk-operations/operations.ts';
import { operations as calendar } from './calendar/operations.ts';
import { operations as configurationSets } from './configuration-sets/operations.ts';
import { operations as costs } from './costs/operations.ts';
import { operations as credentials } from './credentials/operations.ts';
import { operations as customFlows } from './custom-flows/operations.ts';
import { operations as dashboards } from './dashboards/operations.ts';
import { operations as deployments } from './deployments/operations.ts';
import { operations as discovery } from './discovery/operations.ts';
import { operations as environments } from './environments/operations.ts';
import { operations as gitTokens } from './git-tokens/operations.ts';
import { operations as mcp } from './mcp/operations.ts';
import { operations as notifications } from './notifications/operations.ts';
import { operations as member } from './organizations/member-operations.ts';
import { operations as organizations } from './organizations/operations.ts';
import { operations as people } from './people/operations.ts';
import { operations as projectPolicies } from './project-policies/operations.ts';
import { operations as projects } from './projects/operations.ts';
import { operations as module } from './registry/module-operations.ts';
import { operations as provider } from './registry/provider-operations.ts';
import { operations as repositories } from './repositories/operations.ts';
import { operations as assignment } from './roles/assignment-operations.ts';
import { operations as roles } from './roles/operations.ts';
import { operations as schedules } from './schedules/operations.ts';
import { operations as scim } from './scim/operations.ts';
import { operations as signIn } from './sign-in/operations.ts';
import { operations as singleSignOn } from './single-sign-on/operations.ts';
import { operations as sshKeys } from './ssh-keys/operations.ts';
import { operations as state } from './state/operations.ts';
import { operations as system } from './system/operations.ts';
import { operations as teams } from './teams/operations.ts';
import { operations as templates } from './templates/operations.ts';
import { operations as triggers } from './triggers/operations.ts';
import { operations as variables } from './variables/operations.ts';
import { operations as vcsConnections } from './vcs-connections/operations.ts';

export const operations = {
  ...organizations,
  ...signIn,
  ...people,
  ...member,
  ...scim,
  ...teams,
  ...roles,
  ...assignment,
  ...singleSignOn,
  ...projects,
  ...projectPolicies,
  ...discovery,
  ...templates,
  ...variables,
  ...repositories,
  ...configurationSets,
  ...environments,
  ...schedules,
  ...calendar,
  ...deployments,
  ...triggers,
  ...dashboards,
  ...mcp,
  ...bulkOperations,
  ...state,
  ...gitTokens,
  ...sshKeys,
  ...vcsConnections,
  ...credentials,
  ...costs,
  ...module,
  ...provider,
  ...customFlows,
  ...approvalPolicies,
  ...notifications,
  ...verdicts,
  ...apiKeys,
  ...agents,
  ...audit,
  ...system,
};

export type OperationName = keyof typeof operations;
