import type { Command } from 'commander';
import type { CallInput } from '#contract/client/client.ts';
import type { DeploymentType } from '#contract/schema/enumerations.ts';
import { gather, onCall } from '../command-line.ts';
import { BadCall } from '../exit-codes.ts';
import { findEnvironment } from '../find-environment.ts';
import { type FollowFlags, withFollowFlags } from '../follow-flags.ts';
import { showStarted } from '../follow.ts';
import { lifetimeOf } from '../lifetime.ts';
import { textFromFile } from '../read-input.ts';
import { optionOf } from '../terminal/suggest.ts';
import { variableChanges, type VariableFlags, withVariableFlags } from '../variable-flags.ts';

type Body = NonNullable<CallInput<'deployEnvironment'>['body']>;

/**
 * Those that are started by `deploy` alone; a task, a remote plan and a destroy have commands of their own.
 */
const types = ['deploy', 'prPlan', 'dryRun', 'driftDetection'] as const satisfies readonly DeploymentType[];
const remediations = [
  'DISABLED',
  'CODE_TO_CLOUD',
  'CLOUD_TO_CODE',
  'SMART_REMEDIATION',
] as const satisfies readonly NonNullable<Body['autoDriftRemediationStrategy']>[];

interface DeployFlags extends VariableFlags, FollowFlags {
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
}

interface DestroyFlags extends FollowFlags {
  readonly comment?: string;
  readonly revision?: string;
  readonly latestCommit?: boolean;
  readonly refresh: boolean;
}

interface TaskFlags extends VariableFlags, FollowFlags {
  readonly script?: string;
  readonly comment?: string;
}

function bodyOf(flags: DeployFlags): Body {
  const changes = variableChanges(flags);
  const { pullRequest: prNumber, gitUser } = flags;
  return {
    // The service knows which types it can run, and refuses others by name.
    deploymentType: flags.type as Body['deploymentType'],
    blueprintRevision: flags.revision,
    targets: flags.target,
    comment: flags.comment,
    userRequiresApproval: flags.approve ? false : flags.requireApproval,
    configurationChanges: changes.length > 0 ? changes : undefined,
    ttl: flags.ttl === undefined ? undefined : lifetimeOf('--ttl', flags.ttl),
    envName: flags.rename,
    gitUserData: prNumber === undefined && gitUser === undefined ? undefined : { gitUser, prNumber },
    autoDriftRemediationStrategy: flags.remediation as Body['autoDriftRemediationStrategy'],
  };
}

function addDeploy(program: Command): void {
  const deploy = withFollowFlags(
    program.command('deploy <environment>').description('deploy an environment: its id or exact name'),
  )
    .addOption(optionOf('--type <type>', 'what to run; else deploy', types))
    .option('--revision <revision>', 'branch, tag or commit')
    .option('--target <address>', 'only this resource or module; may be repeated', gather)
    .option('--comment <text>', 'shown with the deployment')
    .option('--ttl <lifetime>', 'destroy the environment after 12h, 3d or 2w, at a time, or never: infinite')
    .option('--rename <name>', 'new name of the environment')
    .option('--pull-request <number>', 'that the deployment belongs to')
    .option('--git-user <name>', 'who caused it')
    .addOption(optionOf('--remediation <strategy>', 'what to do about drift from now on', remediations));
  withVariableFlags(deploy)
    .option(
      '--approve',
      'apply the plan without asking; later deployments of the environment do not ask either',
    )
    .option('--require-approval', 'wait for a person, also in later deployments of the environment');
  deploy.options.find(({ long }) => long === '--approve')?.conflicts('requireApproval');
  onCall<DeployFlags>(deploy, async ({ session, args: [name = ''], options }) => {
    const body = bodyOf(options);
    const environment = await findEnvironment(session, name);
    const started = await session.client.call('deployEnvironment', { params: { id: environment.id }, body });
    return showStarted(session, started, environment.name, options);
  });
}

function addDestroy(program: Command): void {
  const destroy = withFollowFlags(
    program
      .command('destroy <environment>')
      .description('destroy everything that an environment has made: its id or exact name'),
  )
    .option('--revision <revision>', 'branch, tag or commit; else the commit that was deployed last')
    .option('--latest-commit', 'newest commit of the revision')
    .option('--no-refresh', 'trust the state, and do not look at the resources first')
    .option('--comment <text>', 'shown with the deployment');
  onCall<DestroyFlags>(destroy, async ({ session, args: [name = ''], options }) => {
    const environment = await findEnvironment(session, name);
    const started = await session.client.call('destroyEnvironment', {
      params: { id: environment.id },
      query: {
        revision: options.revision,
        checkoutUpdatedCode: options.latestCommit,
        skipStateRefresh: options.refresh ? undefined : true,
      },
      body: { comment: options.comment },
    });
    return showStarted(session, started, environment.name, options);
  });
}

function addTask(program: Command): void {
  const task = withFollowFlags(
    program
      .command('task <environment> [command...]')
      .description(
        "run a command in an environment's last commit with its state, as: task web -- terraform state list",
      )
      .option(
        '--script <file>',
        'run the lines of this file, or of standard input with -; the first that fails ends it',
      )
      .option('--comment <text>', 'shown with the deployment'),
  );
  onCall<TaskFlags>(withVariableFlags(task), async ({ session, words, args: [name = ''], options }) => {
    const command = words.slice(1);
    if (command.length > 0 === (options.script !== undefined))
      throw new BadCall('Give a command behind --, or --script with a file of commands, and not both.');
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
        configurationChanges: changes.length > 0 ? changes : undefined,
      },
    });
    return showStarted(session, started, environment.name, options);
  });
}

/** Words as a shell reads them back; one word is a line of the shell as it is. */
export function shellLine(words: readonly string[]): string {
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
