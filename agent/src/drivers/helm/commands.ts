/** The commands of a run, phase by phase. */

import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { helmArguments } from '#protocol/tools/helm/arguments.ts';
import { helm as facts } from '#protocol/tools/helm.ts';
import { inputOf, type KubernetesObject } from '../cluster/objects.ts';
import type { Command, PhaseCaptures } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import {
  again,
  captured,
  definedKinds,
  forgottenObjects,
  goneObjects,
  historyOf,
  isInstallation,
  isLeft,
  liveObjects,
  releaseNamespace,
  requireRendering,
} from './captures.ts';
import { chartFolder } from './chart.ts';
import { dryRuns } from './dry-runs.ts';
import { createdNamespace, uninstallTimeout, upgradeTimeout } from './release.ts';
import { isKept, isOwned, objectKey, ownershipProblem, revisionLabels } from './releases.ts';
import { valueArguments } from './values.ts';

const program = facts.program.name;
const { plan: planStep, apply: applyStep, destroy: destroyStep, outputs: outputStep } = facts.steps;

function kubectl(step: string, verb: string, args: readonly string[], more: Partial<Command>): Command {
  return { step, program: 'kubectl', label: `kubectl ${verb}`, args, ...more };
}

function namespaceCommands({ job }: DriverContext, step: string): Command[] {
  const namespace = createdNamespace(job);
  if (namespace === undefined) return [];
  const args = ['get', 'namespace', namespace, '--ignore-not-found', '--output=json'];
  return [kubectl(step, 'get namespace', args, { captureTo: captured.namespace })];
}

function revisionsCommand({ job }: DriverContext, step: string): Command {
  const selector = `--selector=owner=helm,name=${job.workspaceName}`;
  return kubectl(step, 'get secrets', ['get', 'secrets', selector, '--output=json'], {
    captureTo: captured.revisions,
  });
}

/** Whether a stopped run has left a revision. @throws Error if the release has another owner */
function isUnfinished(context: DriverContext, captures: PhaseCaptures): boolean {
  const { job } = context;
  if (isLeft(context, captures)) return false;
  const history = historyOf(captures);
  const problem = ownershipProblem(history, job.workspaceName, job);
  if (problem !== null) throw new Error(problem);
  return history.unfinished.length > 0;
}

/** Chart, its values, and their namespace. */
function chartArguments({ job }: DriverContext): string[] {
  return [job.workspaceName, chartFolder(job), ...valueArguments(job)];
}

/** Renders the chart as an upgrade would; helm itself refuses to while a revision is unfinished. */
function renderCommands(context: DriverContext, step: string, prefix = ''): Command[] {
  const environment = runEnvironment(context.job);
  const suffix = prefix === '' ? '' : ' (again)';
  const template = (verb: string, more: readonly string[], isUpgrade: boolean): Command => ({
    step,
    program,
    label: `${program} ${verb}${suffix}`,
    args: [
      'template',
      ...chartArguments(context),
      '--validate',
      '--dry-run=server',
      ...helmArguments(environment, 'upgrade', 'rendering'),
      ...more,
    ],
    captureTo: prefix + captured.templates,
    when: (captures) => isUnfinished(context, captures) && (historyOf(captures).base !== null) === isUpgrade,
  });
  return [
    {
      step,
      program,
      label: `${program} upgrade --dry-run${suffix}`,
      args: ['upgrade', ...upgradeArguments(context), '--dry-run=server', '--output=json'],
      captureTo: prefix + captured.rendered,
      when: (captures) => !isUnfinished(context, captures),
    },
    template('template', [], false),
    template('template --is-upgrade', ['--is-upgrade'], true),
  ];
}

function upgradeArguments(context: DriverContext): string[] {
  const { job } = context;
  return [
    ...chartArguments(context),
    '--install',
    // Or helm takes values of the last revision where there are no others.
    '--reset-values',
    ...(createdNamespace(job) === undefined ? [] : ['--create-namespace']),
    ...helmArguments(runEnvironment(job), 'upgrade'),
  ];
}

/** Looks at objects that the comparison of the new manifests does not show. */
function liveCommand(
  step: string,
  objects: (captures: PhaseCaptures) => readonly KubernetesObject[],
): Command {
  return kubectl(step, 'get objects', ['get', '--filename=-', '--ignore-not-found', '--output=json'], {
    captureTo: captured.live,
    input: (captures) => inputOf(objects(captures)),
  });
}

/** Kinds that the chart defines are not among what it renders. */
function definitionCommands({ job }: DriverContext): Command[] {
  if (helmArguments(runEnvironment(job), 'upgrade').some((word) => /^--skip-crds(=true)?$/.test(word)))
    return [];
  return [
    {
      step: planStep,
      program,
      label: `${program} show crds`,
      args: ['show', 'crds', chartFolder(job)],
      captureTo: captured.definitions,
      when: isInstallation,
    },
  ];
}

/** Objects that a destroy deletes or leaves, as far as they exist: of all revisions that may have left some. */
function releasedObjects(context: DriverContext, captures: PhaseCaptures): KubernetesObject[] {
  isUnfinished(context, captures);
  return goneObjects(context, captures);
}

export function planCommands(context: DriverContext): Command[] {
  const revisions = revisionsCommand(context, planStep);
  if (context.job.type === 'destroy')
    return [revisions, liveCommand(planStep, (captures) => releasedObjects(context, captures))];
  return [
    ...namespaceCommands(context, planStep),
    revisions,
    ...renderCommands(context, planStep),
    ...renderCommands(context, planStep, again),
    ...definitionCommands(context),
    {
      ...liveCommand(planStep, (captures) => [
        ...requireRendering(captures).objects,
        ...definedKinds(captures),
        ...goneObjects(context, captures),
      ]),
      next: async (captures) => dryRuns(context, captures),
    },
  ];
}

/** Deletes what only a stopped or failed run knows, and then the records that helm would not pass. */
function clearingCommands(context: DriverContext, step: string): Command[] {
  const { job } = context;
  const isDestroy = job.type === 'destroy';
  const clearing = (captures: PhaseCaptures): KubernetesObject[] => {
    const live = liveObjects(context, captures);
    const namespace = releaseNamespace(context, captures);
    const found = forgottenObjects(context, captures).filter((object) => {
      const known = live.get(objectKey(object, namespace));
      return known !== undefined && isOwned(known, job.workspaceName, namespace) && !isKept(known);
    });
    // An uninstallation removes all records itself.
    return [...found, ...(isDestroy ? [] : historyOf(captures).unfinished.map(({ record }) => record))];
  };
  return [
    liveCommand(step, (captures) => forgottenObjects(context, captures)),
    kubectl(
      step,
      'delete',
      ['delete', '--filename=-', '--ignore-not-found', `--timeout=${uninstallTimeout(job)}`],
      {
        isChanging: true,
        input: (captures) => inputOf(clearing(captures)),
      },
    ),
  ];
}

/** Shows what happens in the namespace while helm waits. */
const events: Command['companion'] = {
  program: 'kubectl',
  label: 'kubectl get events',
  args: ['get', 'events', '--watch-only', '--no-headers'],
};

const afterFailure: Command['afterFailure'] = [
  { program: 'kubectl', label: 'kubectl get pods', args: ['get', 'pods'] },
  {
    program: 'kubectl',
    label: 'kubectl get events (warnings)',
    args: ['get', 'events', '--field-selector=type=Warning', '--sort-by=.metadata.creationTimestamp'],
  },
];

function labelsOf({ environmentId, deploymentId }: Job): string {
  return `--labels=${revisionLabels.environment}=${environmentId},${revisionLabels.deployment}=${deploymentId}`;
}

function destroyCommands(context: DriverContext): Command[] {
  const { job } = context;
  return [
    revisionsCommand(context, destroyStep),
    ...clearingCommands(context, destroyStep),
    {
      step: destroyStep,
      program,
      label: `${program} uninstall`,
      args: [
        'uninstall',
        job.workspaceName,
        '--ignore-not-found',
        '--wait',
        `--timeout=${uninstallTimeout(job)}`,
        '--debug',
        ...helmArguments(runEnvironment(job), 'uninstall'),
      ],
      when: (captures) => isUnfinished(context, captures) || !isLeft(context, captures),
      isChanging: true,
      companion: events,
      afterFailure,
    },
  ];
}

export function applyCommands(context: DriverContext): Command[] {
  const { job } = context;
  if (job.type === 'destroy') return destroyCommands(context);
  return [
    revisionsCommand(context, applyStep),
    ...renderCommands(context, applyStep),
    ...clearingCommands(context, applyStep),
    {
      step: applyStep,
      program,
      label: `${program} upgrade`,
      args: [
        'upgrade',
        '--atomic',
        '--wait',
        `--timeout=${upgradeTimeout(job)}`,
        labelsOf(job),
        ...upgradeArguments(context),
        // The log says what helm does and waits for. The result has values, and is not for the log.
        '--debug',
        '--output=json',
      ],
      captureTo: captured.upgraded,
      isChanging: true,
      companion: events,
      afterFailure,
    },
    {
      step: outputStep ?? '',
      program,
      label: `${program} status`,
      args: ['status', job.workspaceName, '--output=json'],
      captureTo: captured.status,
    },
    {
      step: outputStep ?? '',
      program,
      label: `${program} get metadata`,
      args: ['get', 'metadata', job.workspaceName, '--output=json'],
      captureTo: captured.metadata,
    },
  ];
}
