/** Refusals of the service in terms of the command line: options and arguments instead of fields of a request. */
import type { Command } from 'commander';
import { ApiError } from '#contract/client/client.ts';

/** Options by field: the specified one, or the first that the command has. Arguments are in angle brackets. */
const namesOfField: Readonly<Record<string, readonly string[]>> = {
  email: ['<email>'],
  expiresAt: ['--expires'],
  isDefaultRole: ['--default'],
  isDefaultTeam: ['--default'],
  networks: ['--network'],
  ownerId: ['--owner'],
  permissions: ['--right'],
  'permissions/organizationRole': ['--role'],
  'permissions/projectsPermissions': ['--project-role'],
  role: ['--role', '<role>'],
  teamId: ['--team', '<team>'],
  userId: ['--user', '<user>'],
  userIds: ['<user>'],
  acceptOtherLineage: ['--other-lineage'],
  allowedProjectIds: ['--project'],
  amount: ['--amount'],
  autoDriftRemediation: ['--remediation', '--auto-drift-remediation'],
  autoDriftRemediationStrategy: ['--remediation'],
  blueprintId: ['--template'],
  blueprintRevision: ['--revision'],
  checkoutUpdatedCode: ['--latest-commit'],
  comment: ['--comment'],
  continuousDeployment: ['--continuous-deployment'],
  cron: ['--cron'],
  defaultTtl: ['--default-ttl'],
  'deploy/cron': ['--deploy'],
  'deploy/timeZone': ['--time-zone'],
  'deployRequest/blueprintId': ['--template'],
  'deployRequest/comment': ['--comment'],
  deploymentType: ['--type'],
  deploymentTypes: ['--type'],
  description: ['--description'],
  'destroy/cron': ['--destroy'],
  'destroy/timeZone': ['--time-zone'],
  driftDetectionCron: ['--drift-detection-cron'],
  driftDetectionRequest: ['--drift-cron'],
  'driftDetectionRequest/cron': ['--drift-cron'],
  eventName: ['--event'],
  eventNames: ['--event'],
  downstreamEnvironmentIds: ['--add', '--only'],
  envName: ['--rename'],
  fromDate: ['--from'],
  'gitUserData/gitUser': ['--git-user'],
  'gitUserData/prNumber': ['--pull-request'],
  importUnrecorded: ['--import-unrecorded'],
  isRemoteBackend: ['--remote-backend'],
  isTerragruntRunAll: ['--run-all'],
  helmChartName: ['--helm-chart'],
  k8sNamespace: ['--namespace'],
  lockId: ['--lock-id'],
  maxTtl: ['--max-ttl'],
  name: ['--name', '<name>'],
  organizationId: ['--organization-id'],
  parentProjectId: ['--parent'],
  path: ['--path', '--catalogue'],
  policyConfiguration: ['--configuration'],
  planHash: ['--plan-hash'],
  projectId: ['--project', '<project>'],
  pullRequestPlanDeployments: ['--pull-request-plans'],
  reason: ['--reason'],
  repository: ['--repository', '<address>'],
  'retry/onDeploy/errorRegex': ['--retry-regex'],
  'retry/onDeploy/times': ['--retry-deploy'],
  'retry/onDestroy/errorRegex': ['--retry-regex'],
  'retry/onDestroy/times': ['--retry-destroy'],
  sshKeyIds: ['--ssh-key'],
  fileName: ['--file-name', '--file'],
  requiresApproval: ['--require-approval'],
  revision: ['--revision'],
  scopeId: ['--project', '<project>'],
  searchText: ['--search'],
  setIds: ['<set>'],
  thresholds: ['--threshold'],
  timeframe: ['--timeframe'],
  skipStateRefresh: ['--no-refresh'],
  sshKeys: ['--ssh-key'],
  status: ['--status'],
  statuses: ['--status'],
  tag: ['--tag'],
  tags: ['--tag'],
  deployerUserIds: ['--deployer'],
  isDestroyed: ['--destroyed'],
  targetProjectId: ['<parent>'],
  targets: ['--target'],
  taskPayload: ['--script'],
  toDate: ['--to'],
  terragruntTfBinary: ['--terragrunt-binary'],
  terragruntWorkingDirectory: ['--working-directory'],
  tokenId: ['--git-token'],
  ttl: ['--ttl'],
  type: ['--type', '<lifetime>'],
  userRequiresApproval: ['--require-approval'],
  url: ['--url'],
  vcsAgentKey: ['--agent'],
  vcsConnectionId: ['--vcs-connection'],
  value: ['--value-file', '--value', '<lifetime>'],
  webhookSecret: ['--secret-file'],
  with: ['<with>'],
  workspaceName: ['--workspace'],
};

/** Options with variables, in the order in which their values are sent; those of files come last. */
export const variableOptions = [
  ['var', '--var'],
  ['env', '--env'],
  ['textVar', '--text-var'],
  ['hclVar', '--hcl-var'],
  ['jsonVar', '--json-var'],
  ['sensitive', '--sensitive'],
] as const;

const variableFields: ReadonlySet<string> = new Set([
  'configurationChanges',
  'configurationProperties',
  'configurationPropertiesChanges',
]);

/** The option that a variable of the request came from. What is removed is sent before what is set. */
function variableOption(command: Command, index: number): string {
  const options = command.opts<Readonly<Record<string, readonly string[] | undefined>>>();
  const flags = [['unset', '--unset'] as const, ...variableOptions].flatMap(([name, flag]) =>
    (options[name] ?? [])
      .filter((text) => name !== 'sensitive' || text.includes('='))
      .map((): string => flag),
  );
  return flags[index] ?? (options.varFile ? '--var-file' : (flags[0] ?? '--var'));
}

function has(command: Command, name: string): boolean {
  if (name.startsWith('<'))
    return command.registeredArguments.some((argument) => `<${argument.name()}>` === name);
  return command.options.some(({ long }) => long === name);
}

function isSpecified(command: Command, name: string): boolean {
  const option = command.options.find(({ long }) => long === name);
  return option !== undefined && command.getOptionValueSource(option.attributeName()) === 'cli';
}

/** The option or argument behind a field of a request, followed by what is left of the field's path. */
function nameOf(command: Command, path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  const rest = (from: number) =>
    parts
      .slice(from)
      .filter((part) => !/^\d+$/.test(part))
      .join('.');
  const withRest = (name: string, from: number) => [name, rest(from)].filter(Boolean).join(' ');
  // The request of `variables set` is the array itself.
  if (/^\d+$/.test(parts[0] ?? '') && has(command, '--var-file'))
    return withRest(variableOption(command, Number(parts[0])), 1);
  if (variableFields.has(parts[0] ?? '')) return withRest(variableOption(command, Number(parts[1] ?? 0)), 1);
  if (/^[a-z\d]+Version$/.test(parts[0] ?? '') && has(command, '--tool-version')) return '--tool-version';
  for (const length of [3, 2, 1]) {
    const names = namesOfField[parts.slice(0, length).join('/')] ?? [];
    const known = names.filter((each) => has(command, each));
    const name = known.find((each) => isSpecified(command, each)) ?? known[0];
    if (name !== undefined) return withRest(name, length);
  }
  // The request of `environment ttl` is the lifetime itself.
  return rest(0) || (has(command, '<lifetime>') ? '<lifetime>' : 'the request');
}

/**
 * The same refusal in terms of the command line.
 * @param error anything that a command threw
 * @param command that was called
 */
export function inOptions(error: unknown, command: Command): unknown {
  if (!(error instanceof ApiError) || error.status < 400 || error.status >= 500) return error;
  const message = error.message.replaceAll(
    /(?<![\w/.])\/(?:body|query|params)((?:\/[\w-]+)*)/g,
    (_, path: string) => nameOf(command, path),
  );
  const { status, code, requestId, details } = error;
  return new ApiError(status, { code, message, requestId, details }, { cause: error });
}
