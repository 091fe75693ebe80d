import { templateTypes } from '#contract/schema/template-types.ts';
import type { Command } from 'commander';
import type { CallInput } from '#contract/client/client.ts';
import { gather, onCall } from '../command-line.ts';
import { findGitToken, findOrganization, findProject, findSshKey } from '../find-environment.ts';
import { type FollowFlags, withFollowFlags } from '../follow-flags.ts';
import { showStarted } from '../follow.ts';
import { lifetimeOf } from '../lifetime.ts';
import { plain } from '../terminal/safe-text.ts';
import { optionOf } from '../terminal/suggest.ts';
import { variableChanges, type VariableFlags, withVariableFlags } from '../variable-flags.ts';

type Body = CallInput<'createEnvironmentWithoutTemplate'>['body'];

interface CreateFlags extends VariableFlags, FollowFlags {
  readonly repository: string;
  readonly revision?: string;
  readonly path?: string;
  readonly type: string;
  readonly toolVersion?: string;
  readonly gitToken?: string;
  readonly project?: string;
  readonly workspace?: string;
  readonly description?: string;
  readonly comment?: string;
  readonly requireApproval?: boolean;
  readonly remoteBackend?: boolean;
  readonly deploy: boolean;
  readonly ttl?: string;
  readonly tag?: string[];
  readonly driftCron?: string;
  readonly sshKey?: string[];
}

/** The field with the version of a tool. */
function toolVersionField(type: string, version: string | undefined): Partial<Body> {
  return version === undefined ? {} : { [`${type}Version`]: version };
}

function bodyOf(
  name: string,
  place: { projectId: string; organizationId: string },
  flags: CreateFlags,
): Body {
  return {
    ...place,
    name,
    repository: flags.repository,
    revision: flags.revision,
    path: flags.path,
    // The service decides which tools it supports.
    type: flags.type as Body['type'],
    ...toolVersionField(flags.type, flags.toolVersion),
    workspaceName: flags.workspace,
    description: flags.description,
    requiresApproval: flags.requireApproval,
    isRemoteBackend: flags.remoteBackend,
    preventAutoDeploy: flags.deploy ? undefined : true,
    configurationChanges: variableChanges(flags),
    ttl: flags.ttl === undefined ? undefined : lifetimeOf('--ttl', flags.ttl),
    tags: flags.tag,
    driftDetectionRequest:
      flags.driftCron === undefined ? undefined : { enabled: true, cron: flags.driftCron },
    deployRequest: flags.comment === undefined ? undefined : { comment: flags.comment },
  };
}

function withSourceFlags(command: Command): Command {
  return command
    .requiredOption('--repository <address>', 'git repository with the configuration')
    .option('--revision <revision>', 'branch, tag or commit (default: the default branch)')
    .option('--path <folder>', 'folder of the configuration in the repository (default: its root)')
    .addOption(optionOf('--type <tool>', 'tool that runs it', templateTypes).default('terraform'))
    .option('--tool-version <version>', 'version of the tool, or latest')
    .option('--git-token <git-token>', 'id or exact name of a git token to read the repository with')
    .option(
      '--ssh-key <key>',
      'id or exact name of an ssh key to read the repository and its modules with; may be repeated',
      gather,
    );
}

export function addCreateCommand(group: Command): void {
  const create = withSourceFlags(
    group.command('create <name>').description('create an environment from a repository, and deploy it'),
  )
    .option('--project <project>', 'id or exact name; not required if there is only one')
    .option('--workspace <name>', 'name of the workspace (default: a generated one)')
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
  onCall<CreateFlags>(
    withVariableFlags(withFollowFlags(create)),
    async ({ session, args: [name = ''], options }) => {
      const { client, output, isJson } = session;
      const organization = await findOrganization(session);
      const project = await findProject(client, organization.id, options.project);
      const body = bodyOf(name, { projectId: project.id, organizationId: organization.id }, options);
      const sshKeys = await Promise.all(
        (options.sshKey ?? []).map((key) => findSshKey(client, organization.id, key)),
      );
      const token =
        options.gitToken === undefined
          ? {}
          : { tokenId: (await findGitToken(client, organization.id, options.gitToken)).id };
      const keys =
        sshKeys.length > 0
          ? { sshKeys: sshKeys.map(({ id, name: keyName }) => ({ id, name: keyName })) }
          : {};
      const environment = await client.call('createEnvironmentWithoutTemplate', {
        body: { ...body, ...token, ...keys },
      });
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
