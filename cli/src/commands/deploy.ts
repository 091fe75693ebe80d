import type { Command } from 'commander';
import type { CallInput } from '#contract/client/client.ts';
import type { Environment } from '#contract/environments/shapes.ts';
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import { gather, onCall } from '../call/command-line.ts';
import { type FollowFlags, withFollowFlags } from '../call/follow-flags.ts';
import { lifetimeOf } from '../call/lifetime.ts';
import { textFromFile } from '../call/read-input.ts';
import { findEnvironment } from '../find/find-environment.ts';
import { BadCall } from '../session/exit-codes.ts';
import { tell } from '../session/session.ts';
import { showStarted } from '../show/follow.ts';
import { canAsk, confirm } from '../terminal/ask.ts';
import { plain } from '../terminal/safe-text.ts';
import { optionOf } from '../terminal/suggest.ts';
import { changesIn } from '../variables/keep-choices.ts';
import { type VariableFlags, variableChanges, withVariableFlags } from '../variables/variable-flags.ts';
import { findTemplate } from './templates/find-template.ts';

type DeploymentBody = NonNullable<CallInput<'deployEnvironment'>['body']>;

/** Those that `deploy` starts; tasks, remote plans and destroys have their own commands. */
const types = ['deploy', 'prPlan', 'dryRun', 'driftDetection'] as const satisfies readonly DeploymentType[];
/** The others would open pull requests: the service refuses them. */
const remediations = ['DISABLED', 'CODE_TO_CLOUD'] as const satisfies readonly NonNullable<
  DeploymentBody['autoDriftRemediationStrategy']
>[];

interface DeployFlags extends VariableFlags, FollowFlags {
  readonly template?: string;
  readonly type?: string;
  readonly revision?: string;
  readonly target?: string[];
  readonly comment?: string;
  readonly approve?: boolean;
  readonly requireApproval?: boolean;
  readonly ttl?: string;
  readonly rename?: string;
  readonly pullRequest?: string;
  readonly gitUser?: string;
  readonly remediation?: string;
  readonly importUnrecorded?: boolean;
}

interface DestroyFlags extends FollowFlags {
  readonly approve?: boolean;
  readonly yes?: boolean;
  readonly comment?: string;
  readonly revision?: string;
  readonly latestCommit?: boolean;
  readonly refresh: boolean;
  readonly requireApproval?: boolean;
}

interface TaskFlags extends VariableFlags, FollowFlags {
  readonly script?: string;
  readonly comment?: string;
}

/** Settings from the options, except for variables. */
function bodyOf(flags: DeployFlags): DeploymentBody {
  const { pullRequest: prNumber, gitUser } = flags;
  return {
    // The service decides which types it can run.
    deploymentType: flags.type as DeploymentBody['deploymentType'],
    blueprintRevision: flags.revision,
    targets: flags.target,
    importUnrecorded: flags.importUnrecorded,
    comment: flags.comment,
    userRequiresApproval: flags.requireApproval,
    ttl: flags.ttl === undefined ? undefined : lifetimeOf('--ttl', flags.ttl),
    envName: flags.rename,
    gitUserData: prNumber === undefined && gitUser === undefined ? undefined : { gitUser, prNumber },
    autoDriftRemediationStrategy: flags.remediation as DeploymentBody['autoDriftRemediationStrategy'],
  };
}

/** Reports which settings of the environment a deployment has changed for later ones too. */
function tellDefaults(
  { name, requiresApproval, latestDeploymentLog }: Environment,
  body: DeploymentBody,
): void {
  const { userRequiresApproval, blueprintRevision, deploymentType = 'deploy' } = body;
  if (userRequiresApproval === false && requiresApproval)
    tell(
      `"${plain(name)}" no longer requires approval: later deployments apply their plans without approval.`,
    );
  if (userRequiresApproval === true && !requiresApproval)
    tell(`"${plain(name)}" now requires approval, for later deployments too.`);
  const isStored = deploymentType === 'deploy' && blueprintRevision !== undefined;
  if (isStored && blueprintRevision !== latestDeploymentLog.blueprintRevision)
    tell(`Later deployments of "${plain(name)}" use revision "${plain(blueprintRevision)}" too.`);
}

function addDeploy(program: Command): void {
  const deploy = withFollowFlags(
    program.command('deploy <environment>').description('deploy an environment: its id or exact name'),
  )
    .addOption(optionOf('--type <type>', 'what to run (default: deploy)', types))
    .option(
      '--template <template>',
      'switch to this template: its id or exact name; later deployments use it too',
    )
    .option('--revision <revision>', 'branch, tag or commit; later deployments use it too')
    .option('--target <address>', 'restrict it to this resource or module; may be repeated', gather)
    .option(
      '--import-unrecorded',
      'import what earlier deployments created and could not record, as "deployments show" lists it',
    )
    .option('--comment <text>', 'shown with the deployment')
    .option('--ttl <lifetime>', 'new lifetime of the environment: 12h, 3d or 2w, a time, or infinite')
    .option('--rename <name>', 'new name of the environment')
    .option('--pull-request <number>', 'pull request that the deployment belongs to')
    .option('--git-user <name>', 'git user that caused the deployment')
    .addOption(optionOf('--remediation <strategy>', 'reaction to drift from now on', remediations));
  withVariableFlags(deploy)
    .option(
      '--approve',
      'approve the plan of this deployment as soon as it is ready, and return then, unless --follow or --wait is specified',
    )
    .option('--require-approval', 'wait for approval, in this and later deployments of the environment')
    .option(
      '--no-require-approval',
      'apply the plan without approval, in this and later deployments of the environment',
    );
  onCall<DeployFlags>(deploy, async ({ session, args: [name = ''], options }) => {
    const [requested, changes] = [bodyOf(options), variableChanges(options)];
    const environment = await findEnvironment(session, name);
    const { client } = session;
    const blueprintId =
      options.template === undefined
        ? undefined
        : (await findTemplate(client, environment.organizationId, options.template)).id;
    const configurationChanges = await changesIn(client, environment, changes, blueprintId);
    const body = { ...requested, configurationChanges, blueprintId };
    const started = await session.client.call('deployEnvironment', { params: { id: environment.id }, body });
    tellDefaults(environment, body);
    return showStarted(session, started, environment.name, options);
  });
}

/** Asks before everything is destroyed, if there is a person to ask. @throws BadCall if the answer is no */
async function confirmDestroy({ name, status, latestDeploymentLog }: Environment): Promise<void> {
  const { resourceCount } = latestDeploymentLog;
  const known = typeof resourceCount === 'number' ? `, ${resourceCount} resources` : '';
  const isSure = await confirm(`Destroy everything that "${plain(name)}" has created (${status}${known})?`);
  if (!isSure) throw new BadCall('Nothing was destroyed.');
}

function addDestroy(program: Command): void {
  const destroy = withFollowFlags(
    program
      .command('destroy <environment>')
      .description('destroy everything that an environment has created: its id or exact name'),
  )
    .option('--revision <revision>', 'branch, tag or commit (default: the commit that was deployed last)')
    .option('--latest-commit', 'use the newest commit of the revision')
    .option('--no-refresh', 'trust the state, without refreshing it first')
    .option('--comment <text>', 'shown with the deployment')
    .option(
      '--approve',
      'approve the plan of this destroy as soon as it is ready, and return then, unless --follow or --wait is specified',
    )
    .option(
      '--require-approval',
      'wait for approval, in this destroy and later deployments of the environment',
    )
    .option(
      '--no-require-approval',
      'destroy without approval, and apply later plans of the environment without it',
    )
    .option('-y, --yes', 'do not ask for confirmation; without a terminal, there is no prompt');
  onCall<DestroyFlags>(destroy, async ({ session, args: [name = ''], options }) => {
    const environment = await findEnvironment(session, name);
    if (!options.yes && canAsk()) await confirmDestroy(environment);
    const started = await session.client.call('destroyEnvironment', {
      params: { id: environment.id },
      query: {
        revision: options.revision,
        checkoutUpdatedCode: options.latestCommit,
        skipStateRefresh: options.refresh ? undefined : true,
        requiresApproval: options.requireApproval,
      },
      body: { comment: options.comment },
    });
    tellDefaults(environment, { userRequiresApproval: options.requireApproval });
    return showStarted(session, started, environment.name, options);
  });
}

function addTask(program: Command): void {
  const task = withFollowFlags(
    program
      .command('task <environment> [command...]')
      .description(
        "run a command on an environment's last commit and state, such as: task web -- terraform state list",
      )
      .option('--script <file>', 'run the commands in this file, or standard input with -, until one fails')
      .option('--comment <text>', 'shown with the deployment'),
  );
  onCall<TaskFlags>(withVariableFlags(task), async ({ session, words, args: [name = ''], options }) => {
    const command = words.slice(1);
    if (command.length > 0 === (options.script !== undefined))
      throw new BadCall('Specify either a command after --, or --script with a file of commands.');
    const taskPayload =
      options.script === undefined ? shellLine(command) : textFromFile('--script', options.script);
    const changes = variableChanges(options);
    const environment = await findEnvironment(session, name);
    const started = await session.client.call('deployEnvironment', {
      params: { id: environment.id },
      body: {
        deploymentType: 'task',
        taskPayload,
        comment: options.comment,
        configurationChanges: await changesIn(session.client, environment, changes),
      },
    });
    return showStarted(session, started, environment.name, options);
  });
}

/** Words quoted for a shell; a single word is passed on as a shell command. */
function shellLine(words: readonly string[]): string {
  if (words.length === 1) return words[0] ?? '';
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

export function addDeployCommands(program: Command): void {
  addDeploy(program);
  addDestroy(program);
  addTask(program);
}
