import type { Command } from 'commander';
import type { CallInput } from '#contract/client/client.ts';
import type { CreatedEnvironment } from '#contract/environments/shapes.ts';
import { templateTypes } from '#contract/schema/template-types.ts';
import { gather, onCall } from '../call/command-line.ts';
import { type FollowFlags, withFollowFlags } from '../call/follow-flags.ts';
import { lifetimeOf } from '../call/lifetime.ts';
import { findOrganization, findProject } from '../find/find-environment.ts';
import { BadCall } from '../session/exit-codes.ts';
import type { CommandSession } from '../session/session.ts';
import { showStarted } from '../show/follow.ts';
import { plain } from '../terminal/safe-text.ts';
import { keepChoices } from '../variables/keep-choices.ts';
import { type VariableFlags, variableChanges, withVariableFlags } from '../variables/variable-flags.ts';
import { findTemplate } from './templates/find-template.ts';
import { type SourceFlags, sourceFields, withSourceFlags } from './templates/source-flags.ts';
import { type ToolFlags, toolFields, toolFlagNames, withToolFlags } from './templates/tool-flags.ts';

type EnvironmentBody = CallInput<'createEnvironmentWithoutTemplate'>['body'];
type TemplateEnvironmentBody = CallInput<'createEnvironment'>['body'];

interface CreateEnvironmentFlags extends VariableFlags, FollowFlags, SourceFlags, ToolFlags {
  readonly template?: string;
  readonly project?: string;
  readonly workspace?: string;
  readonly namespace?: string;
  readonly workingDirectory?: string;
  readonly description?: string;
  readonly comment?: string;
  readonly requireApproval?: boolean;
  readonly remoteBackend?: boolean;
  readonly deploy: boolean;
  readonly ttl?: string;
  readonly tag?: string[];
  readonly driftCron?: string;
}

/** Settings of an environment wherever its code comes from. */
function environmentFields(name: string, projectId: string, flags: CreateEnvironmentFlags) {
  return {
    projectId,
    name,
    workspaceName: flags.workspace,
    k8sNamespace: flags.namespace,
    terragruntWorkingDirectory: flags.workingDirectory,
    description: flags.description,
    requiresApproval: flags.requireApproval,
    isRemoteBackend: flags.remoteBackend,
    preventAutoDeploy: flags.deploy ? undefined : true,
    configurationChanges: variableChanges(flags),
    ttl: flags.ttl === undefined ? undefined : lifetimeOf('--ttl', flags.ttl),
    tags: flags.tag,
    driftDetectionRequest:
      flags.driftCron === undefined ? undefined : { enabled: true, cron: flags.driftCron },
  } satisfies Partial<EnvironmentBody>;
}

/** Options that a template has already decided. */
const templateFlags = [
  'repository',
  'path',
  'type',
  'toolVersion',
  ...toolFlagNames,
  'gitToken',
  'sshKey',
] as const;

async function fromTemplate(
  { client }: CommandSession,
  organizationId: string,
  fields: ReturnType<typeof environmentFields>,
  flags: CreateEnvironmentFlags,
): Promise<CreatedEnvironment> {
  const conflicting = templateFlags.find((flag) => flags[flag] !== undefined);
  if (conflicting) {
    const option = conflicting.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new BadCall(`--${option} does not apply with --template, which has this setting.`);
  }
  const { id: blueprintId } = await findTemplate(client, organizationId, flags.template ?? '');
  const deployRequest: TemplateEnvironmentBody['deployRequest'] = {
    blueprintId,
    blueprintRevision: flags.revision,
    comment: flags.comment,
  };
  const place = { organizationId, projectId: fields.projectId, blueprintId };
  const configurationChanges = await keepChoices(client, place, fields.configurationChanges);
  return client.call('createEnvironment', { body: { ...fields, configurationChanges, deployRequest } });
}

async function withoutTemplate(
  { client }: CommandSession,
  organizationId: string,
  fields: ReturnType<typeof environmentFields>,
  flags: CreateEnvironmentFlags,
): Promise<CreatedEnvironment> {
  if (!flags.repository) throw new BadCall('Specify --repository, or --template.');
  const type = flags.type ?? 'terraform';
  const place = { organizationId, projectId: fields.projectId };
  const body = {
    ...fields,
    configurationChanges: await keepChoices(client, place, fields.configurationChanges),
    ...(await sourceFields(client, organizationId, flags, type)),
    organizationId,
    repository: flags.repository,
    ...toolFields(flags),
    // The service decides which tools it supports.
    type: type as EnvironmentBody['type'],
    deployRequest: flags.comment === undefined ? undefined : { comment: flags.comment },
  };
  return client.call('createEnvironmentWithoutTemplate', { body });
}

export function addCreateCommand(group: Command): void {
  const create = withToolFlags(
    withSourceFlags(
      group
        .command('create <name>')
        .description('create an environment from a template or a repository, and deploy it')
        .option('--template <template>', 'id or exact name of a template of the project'),
      templateTypes,
    ).option('--project <project>', 'id or exact name; not required if there is only one'),
  )
    .option('--working-directory <folder>', "folder in which terragrunt runs, below the template's")
    .option('--workspace <name>', 'name of the workspace (default: a generated one)')
    .option('--namespace <name>', 'namespace in the cluster, for Kubernetes and Helm')
    .option('--description <text>', 'what it is for')
    .option('--require-approval', 'plans wait for approval')
    .option('--no-require-approval', 'plans are applied without approval')
    .option('--remote-backend', 'keep its state in the service, whatever backend the code names')
    .option('--no-deploy', 'do not deploy it')
    .option('--ttl <lifetime>', 'lifetime: 12h, 3d or 2w, a time, or infinite')
    .option('--tag <text>', 'tag; may be repeated', gather)
    .option(
      '--drift-cron <cron>',
      'check for drift at these times: a cron expression with five fields, in UTC',
    )
    .option('--comment <text>', 'shown with the first deployment');
  onCall<CreateEnvironmentFlags>(
    withVariableFlags(withFollowFlags(create)),
    async ({ session, args: [name = ''], options }) => {
      const { output, isJson } = session;
      const organization = await findOrganization(session);
      const project = await findProject(session.client, organization.id, options.project);
      const fields = environmentFields(name, project.id, options);
      const create = options.template === undefined ? withoutTemplate : fromTemplate;
      const environment = await create(session, organization.id, fields, options);
      const isFollowed = options.follow === true && options.deploy;
      const isAwaited = options.wait === true && options.deploy;
      if (isJson && !isAwaited)
        await output.json(isFollowed ? { event: 'environment', data: environment } : environment, isFollowed);
      else if (!isJson) await output.line(`Environment ${plain(name)} was created: ${environment.id}`);
      if (!options.deploy || (isJson && !isFollowed && !isAwaited)) return undefined;
      const started = { ...environment.latestDeploymentLog, id: environment.latestDeploymentLog.id ?? '' };
      return showStarted(session, started, name, options);
    },
  );
}
