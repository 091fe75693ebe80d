/** The families of the server by wing, in their order: each imports only what is listed before it. */
import { family as bulkOperations } from './automation/bulk-operations/family.ts';
import { family as calendar } from './automation/calendar/family.ts';
import { family as discovery } from './automation/discovery/family.ts';
import { family as notifications } from './automation/notifications/family.ts';
import { family as triggers } from './automation/triggers/family.ts';
import { family as gitTokens } from './code/git-tokens/family.ts';
import { family as registry } from './code/registry/family.ts';
import { family as repositories } from './code/repositories/family.ts';
import { family as sources } from './code/sources/family.ts';
import { family as sshKeys } from './code/ssh-keys/family.ts';
import { family as templates } from './code/templates/family.ts';
import { family as vcsConnections } from './code/vcs-connections/family.ts';
import type { Family } from './framework/family.ts';
import { family as apiKeys } from './identity/api-keys/family.ts';
import { family as people } from './identity/people/family.ts';
import { family as roles } from './identity/roles/family.ts';
import { family as scim } from './identity/scim/family.ts';
import { family as signIn } from './identity/sign-in/family.ts';
import { family as singleSignOn } from './identity/single-sign-on/family.ts';
import { family as teams } from './identity/teams/family.ts';
import { family as configurationSets } from './inputs/configuration-sets/family.ts';
import { family as costs } from './inputs/costs/family.ts';
import { family as credentials } from './inputs/credentials/family.ts';
import { family as oidcIssuer } from './inputs/oidc-issuer/family.ts';
import { family as variables } from './inputs/variables/family.ts';
import { family as approvalPolicies } from './rules/approval-policies/family.ts';
import { family as customFlows } from './rules/custom-flows/family.ts';
import { family as agents } from './runs/agents/family.ts';
import { family as deployments } from './runs/deployments/family.ts';
import { family as dispatch } from './runs/dispatch/family.ts';
import { family as environments } from './runs/environments/family.ts';
import { family as feeds } from './runs/feeds/family.ts';
import { family as logs } from './runs/logs/family.ts';
import { family as schedules } from './runs/schedules/family.ts';
import { family as state } from './runs/state/family.ts';
import { family as auditLog } from './service/audit-log/family.ts';
import { family as dashboards } from './service/dashboards/family.ts';
import { family as mcp } from './service/mcp/family.ts';
import { family as system } from './service/system/family.ts';
import { family as web } from './service/web/family.ts';
import { family as organizations } from './tenancy/organizations/family.ts';
import { family as projectPolicies } from './tenancy/project-policies/family.ts';
import { family as projects } from './tenancy/projects/family.ts';
import { family as users } from './tenancy/users/family.ts';

/**
 * A folder of `server/src` for each wing, and in it a folder for each family. The import rule, the app, the loops and
 * the checks of rights read these lists.
 */
export const wings: Readonly<Record<string, readonly Family[]>> = {
  tenancy: [users, projects, projectPolicies, organizations],
  identity: [teams, roles, signIn, people, scim, apiKeys, singleSignOn],
  code: [gitTokens, sshKeys, vcsConnections, templates, repositories, registry, sources],
  inputs: [oidcIssuer, credentials, costs, variables, configurationSets],
  rules: [customFlows, approvalPolicies],
  runs: [agents, logs, feeds, deployments, schedules, environments, state, dispatch],
  automation: [triggers, bulkOperations, discovery, calendar, notifications],
  service: [system, web, auditLog, dashboards, mcp],
};

/** All of them, in the same order. */
export const families: readonly Family[] = Object.values(wings).flat();
