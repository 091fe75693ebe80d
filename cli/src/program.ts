/** The command line as a whole. */
import { Command } from 'commander';
import { withSharedFlags } from './call/command-line.ts';
import { addKeyCommands } from './commands/access/key.ts';
import { addRoleCommands } from './commands/access/role.ts';
import { addSessionCommands } from './commands/access/session.ts';
import { addTeamCommands } from './commands/access/team.ts';
import { addUserCommands } from './commands/access/user.ts';
import { addWhoamiCommand } from './commands/access/whoami.ts';
import { addAgentCommands } from './commands/agents/agents.ts';
import { addApprovalPolicyCommands } from './commands/approval-policies/approval-policies.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addBulkCommands } from './commands/bulk/bulk.ts';
import { addCalendarCommand } from './commands/calendar/calendar.ts';
import { addCompletionCommands } from './commands/completion.ts';
import { addCredentialCommands } from './commands/credentials.ts';
import { addDecideCommands } from './commands/decide.ts';
import { addDeployCommands } from './commands/deploy.ts';
import { addDeploymentCommands } from './commands/deployments.ts';
import { addDiscoveryCommands } from './commands/discovery/discovery.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addDriftCommand } from './commands/drift.ts';
import { addEnvironmentCommands } from './commands/environment.ts';
import { addLoginCommand } from './commands/login.ts';
import { addLogoutCommand } from './commands/logout.ts';
import { addLogCommands } from './commands/logs.ts';
import { addNotificationCommands } from './commands/notifications/notifications.ts';
import { addOrganizationCommands } from './commands/organization.ts';
import { addOutputCommands } from './commands/outputs.ts';
import { addPlanCommand } from './commands/plan.ts';
import { addProjectCommands } from './commands/project.ts';
import { addBudgetCommands } from './commands/project-policies/budget.ts';
import { addPolicyCommands } from './commands/project-policies/policies.ts';
import { addRepositoryCommands } from './commands/repository.ts';
import { addRepositoryCredentialCommands } from './commands/repository-credentials.ts';
import { addResourceCommands } from './commands/resources.ts';
import { addStateCommands } from './commands/state.ts';
import { addTemplateCommands } from './commands/templates/templates.ts';
import { addSetCommands } from './commands/variables/sets.ts';
import { addVariableCommands } from './commands/variables/variables.ts';
import { addVcsConnectionCommands } from './commands/vcs-connection.ts';
import { version } from './session/version.ts';
import { currentProcess } from './terminal/current-process.ts';
import { safeText } from './terminal/safe-text.ts';

const statuses = `
Exit status: 0 success; 1 the deployment failed, was aborted or cancelled, or the service failed; 2 the call was wrong
or the service is unreachable; 3 the deployment waits for approval; 130 ended by Ctrl-C.
Settings come from flags, then ENVARIUM_API_URL, ENVARIUM_API_KEY, ENVARIUM_API_SECRET and ENVARIUM_ORGANIZATION_ID,
then the file that "envarium login" writes.`;

/** Functions that add the commands, in the order of the help. */
const commands = [
  addLoginCommand,
  addLogoutCommand,
  addWhoamiCommand,
  addSessionCommands,
  addEnvironmentCommands,
  addDeployCommands,
  addBulkCommands,
  addPlanCommand,
  addDriftCommand,
  addDecideCommands,
  addLogCommands,
  addOutputCommands,
  addResourceCommands,
  addDeploymentCommands,
  addStateCommands,
  addProjectCommands,
  addDiscoveryCommands,
  addPolicyCommands,
  addBudgetCommands,
  addOrganizationCommands,
  addUserCommands,
  addTeamCommands,
  addRoleCommands,
  addKeyCommands,
  addVariableCommands,
  addSetCommands,
  addTemplateCommands,
  addNotificationCommands,
  addApprovalPolicyCommands,
  addRepositoryCredentialCommands,
  addRepositoryCommands,
  addVcsConnectionCommands,
  addCredentialCommands,
  addAgentCommands,
  addCalendarCommand,
  addAuditCommands,
  addDoctorCommand,
  addCompletionCommands,
] as const;

/** All commands; usage errors are thrown. */
export function createProgram(): Command {
  const program = new Command('envarium')
    .description('Manage infrastructure-as-code environments')
    .version(version, '-V, --version', 'show the version')
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .showHelpAfterError('Run with --help for usage.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => currentProcess().stdout.write(text),
      writeErr: (text) => currentProcess().stderr.write(text),
      outputError: (text, write) => write(safeText(text)),
    })
    .addHelpText('after', statuses);
  withSharedFlags(program);
  for (const add of commands) add(program);
  return program;
}
