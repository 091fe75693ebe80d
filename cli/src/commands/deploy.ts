import type { Command } from 'commander';
import type { CallInput } from '#contract/client.ts';
import { gather, onCall } from '../command-line.ts';
import { findEnvironment } from '../find-environment.ts';
import { showStarted } from '../follow.ts';
import { variableChanges, type VariableFlags, withVariableFlags } from '../variable-flags.ts';

type Body = NonNullable<CallInput<'deployEnvironment'>['body']>;

interface DeployFlags extends VariableFlags {
  readonly type?: string;
  readonly revision?: string;
  readonly target?: string[];
  readonly comment?: string;
  readonly approve?: boolean;
  readonly requireApproval?: boolean;
  readonly follow?: boolean;
}

interface DestroyFlags {
  readonly comment?: string;
  readonly revision?: string;
  readonly latestCommit?: boolean;
  readonly follow?: boolean;
}

function bodyOf(flags: DeployFlags): Body {
  const changes = variableChanges(flags);
  return {
    // The service knows which types it can run, and refuses others by name.
    deploymentType: flags.type as Body['deploymentType'],
    blueprintRevision: flags.revision,
    targets: flags.target,
    comment: flags.comment,
    userRequiresApproval: flags.approve ? false : flags.requireApproval,
    configurationChanges: changes.length > 0 ? changes : undefined,
  };
}

function addDeploy(program: Command): void {
  const deploy = program
    .command('deploy <environment>')
    .description('deploy an environment: its id or exact name')
    .option('-f, --follow', 'show the log live; the exit status is that of the result')
    .option('--type <type>', 'deploy, prPlan, dryRun or driftDetection; else deploy')
    .option('--revision <revision>', 'branch, tag or commit')
    .option('--target <address>', 'only this resource or module; may be repeated', gather)
    .option('--comment <text>', 'shown with the deployment');
  withVariableFlags(deploy)
    .option('--approve', 'apply the plan without asking; later deployments of the environment do not ask either')
    .option('--require-approval', 'wait for a person, also in later deployments of the environment');
  deploy.options.find(({ long }) => long === '--approve')?.conflicts('requireApproval');
  onCall<DeployFlags>(deploy, async ({ session, args: [name = ''], options }) => {
    const body = bodyOf(options);
    const environment = await findEnvironment(session, name);
    const started = await session.client.call('deployEnvironment', { params: { id: environment.id }, body });
    return showStarted(session, started, environment.name, options.follow);
  });
}

function addDestroy(program: Command): void {
  const destroy = program
    .command('destroy <environment>')
    .description('destroy everything that an environment has made: its id or exact name')
    .option('-f, --follow', 'show the log live; the exit status is that of the result')
    .option('--revision <revision>', 'branch, tag or commit; else the commit that was deployed last')
    .option('--latest-commit', 'newest commit of the revision')
    .option('--comment <text>', 'shown with the deployment');
  onCall<DestroyFlags>(destroy, async ({ session, args: [name = ''], options }) => {
    const environment = await findEnvironment(session, name);
    const started = await session.client.call('destroyEnvironment', {
      params: { id: environment.id },
      query: { revision: options.revision, checkoutUpdatedCode: options.latestCommit },
      body: { comment: options.comment },
    });
    return showStarted(session, started, environment.name, options.follow);
  });
}

export function addDeployCommands(program: Command): void {
  addDeploy(program);
  addDestroy(program);
}
