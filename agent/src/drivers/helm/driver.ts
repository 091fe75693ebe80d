/** The driver of helm; tested with 3.21.4. It plans with kubectl what helm would change in the cluster. */
import { normalizePath } from '#guards/source-guards.ts';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { helmArgumentNames } from '#protocol/tools/helm/arguments.ts';
import { helmVariableProblem, visibleNames } from '#protocol/tools/helm/variables.ts';
import { helm as facts } from '#protocol/tools/helm.ts';
import { variableRefusal } from '#protocol/tools/variable-refusals.ts';
import { clusterEnvironment, clusterFile } from '../cluster/cluster.ts';
import { addressOf, identityOf } from '../cluster/objects.ts';
import { inputs, type PhaseCaptures } from '../interface/command.ts';
import type { Driver, DriverContext, FileToWrite } from '../interface/driver.ts';
import { approvalDifference, composeApproval, destroyDifference, unstablePlaces } from './approval.ts';
import {
  again,
  captured,
  goneObjects,
  historyOf,
  releaseNamespace,
  renderingOf,
  requireRendering,
} from './captures.ts';
import { chartEnvironment, chartFiles, chartRefusal, prepareChart } from './chart.ts';
import { applyCommands, planCommands } from './commands.ts';
import { helmDiagnostics, helmReason } from './diagnostics.ts';
import { readStatus } from './outputs.ts';
import { readPlan } from './plan.ts';
import { helmProgress } from './progress.ts';
import { namespaceOf, releaseNameRefusal } from './release.ts';
import { valueFiles } from './values.ts';

const { program } = facts;

/**
 * Variables of helm itself that would have it work elsewhere than kubectl, or elsewhere than a run expects.
 */
const reserved: Readonly<Record<string, string>> = {
  HELM_DRIVER: 'runs read and keep releases in Secrets',
  HELM_DEBUG: 'it would write values into the log',
  HELM_KUBECONTEXT: "the cluster is the environment's",
  HELM_KUBEAPISERVER: "the cluster is the environment's",
  HELM_KUBETOKEN: "the cluster is the environment's",
  HELM_KUBECAFILE: "the cluster is the environment's",
  HELM_KUBEASUSER: "the cluster is the environment's",
  HELM_KUBEASGROUPS: "the cluster is the environment's",
  HELM_KUBEINSECURE_SKIP_TLS_VERIFY: "the cluster is the environment's",
  HELM_KUBETLS_SERVER_NAME: "the cluster is the environment's",
};

function reservedRefusal(name: string, value: string): string | null {
  const why = Object.hasOwn(reserved, name) ? reserved[name] : undefined;
  if (why === undefined || (name === 'HELM_DRIVER' && /^secrets?$/.test(value))) return null;
  return `${name} cannot be set: ${why}; remove the variable`;
}

function refusals(job: Job): string[] {
  const environment = runEnvironment(job);
  const folder = normalizePath(job.source.path ?? '');
  const found = [releaseNameRefusal(job), chartRefusal(job)];
  for (const { name, isSensitive, reference } of job.variables.environment) {
    const value = environment[name] ?? '';
    found.push(
      variableRefusal(0, name, value, [facts]),
      reservedRefusal(name, value),
      helmVariableProblem(name, value, folder),
    );
    if ((isSensitive || reference !== undefined) && visibleNames.includes(name))
      found.push(`${name} cannot be sensitive: its value becomes arguments, which others can read`);
  }
  for (const { name, value } of job.variables.terraform) found.push(variableRefusal(1, name, value, [facts]));
  if (job.targets.length > 0) found.push('targets: helm deploys a release as a whole; remove them');
  return [...new Set(found.filter((text) => text !== null))];
}

async function warnings({ job }: Pick<DriverContext, 'job'>): Promise<string[]> {
  if (!runEnvironment(job)[helmArgumentNames.diff]) return [];
  return [
    `${helmArgumentNames.diff} is not used: plans do not need the plugin that these arguments are for.`,
  ];
}

/** helm 4 applies objects in another way, with conflicts that plans do not know of. */
function refuseOtherVersions(version: string | undefined): void {
  if (version === undefined || version.startsWith('3.')) return;
  throw new Error(
    `helm ${version} is not supported: runs need a version 3, which ${program.versionVariables[0]} requests`,
  );
}

async function files(context: DriverContext): Promise<FileToWrite[]> {
  const { job } = context;
  refuseOtherVersions(context.toolVersion);
  const cluster = await clusterFile(context, namespaceOf(job));
  if (job.type === 'destroy') return [cluster];
  return [cluster, ...(await valueFiles(job)), ...(await chartFiles(context))];
}

function environment(context: DriverContext): Record<string, string> {
  const namespace = namespaceOf(context.job);
  return {
    ...chartEnvironment(context),
    ...clusterEnvironment(context),
    ...(namespace === undefined ? {} : { HELM_NAMESPACE: namespace }),
  };
}

/** Addresses of everything that a destroy may delete. */
function destroyed(context: DriverContext, captures: PhaseCaptures): string[] {
  const namespace = releaseNamespace(context, captures);
  return goneObjects(context, captures).map((object) => addressOf(identityOf(object, namespace)));
}

function compose(context: DriverContext, captures: PhaseCaptures): Uint8Array {
  const newest = historyOf(captures).revisions.at(-1)?.revision ?? 0;
  if (context.job.type === 'destroy')
    return composeApproval({
      newest,
      rendered: Object.fromEntries(destroyed(context, captures).map((path) => [path, true])),
    });
  const namespace = releaseNamespace(context, captures);
  const rendering = requireRendering(captures);
  const second = renderingOf(captures, again);
  const unstable = second === null ? [] : unstablePlaces(rendering, second, namespace);
  return composeApproval({ newest, rendering, unstable, namespace });
}

function differing(context: DriverContext, captures: PhaseCaptures): string | null {
  const approved = captures.get(inputs.approved);
  const newest = historyOf(captures).revisions.at(-1)?.revision ?? 0;
  if (context.job.type === 'destroy') return destroyDifference(approved, destroyed(context, captures));
  const namespace = releaseNamespace(context, captures);
  return approvalDifference(approved, { newest, rendering: requireRendering(captures), namespace });
}

export const helm: Driver = {
  type: 'helm',
  programs: [program.name, 'kubectl'],
  codeFiles: /(^|\/)Chart\.yaml$/,
  // Names the versions of the charts that a chart needs.
  lockFile: 'Chart.lock',
  refusals,
  warnings,
  files,
  environment,
  prepare: prepareChart,
  plan: planCommands,
  readPlan,
  isPlanLogged: true,
  apply: applyCommands,
  reason: helmReason,
  diagnostics: helmDiagnostics,
  savedPlan: { compose, differing },
  progress: { fromLog: helmProgress },
  outputs: {
    read: (captures) => readStatus(captures.get(captured.status), captures.get(captured.metadata)),
  },
};
