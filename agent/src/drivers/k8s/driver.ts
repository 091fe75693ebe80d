/** The driver of manifests of Kubernetes: kustomize renders them, kubectl compares and applies them. */
import { isDeepStrictEqual } from 'node:util';
import type { Job } from '#protocol/messages/job.ts';
import { runEnvironment } from '#protocol/run-environment.ts';
import { k8s as facts } from '#protocol/tools/k8s.ts';
import { namespaceVariable } from '#protocol/tools/kubernetes-variables.ts';
import { variableRefusal } from '#protocol/tools/variable-refusals.ts';
import { clusterEnvironment, clusterVariables, namespaceProblem } from '../cluster/cluster.ts';
import { kubectlDiagnostics, kubectlProgress, kubectlReason } from '../cluster/kubectl-output.ts';
import { inputs, type PhaseCaptures } from '../interface/command.ts';
import type { Driver, DriverContext } from '../interface/driver.ts';
import { readApproved } from './approved-plan.ts';
import { applyCommands, planCommands, recordedObjects } from './commands.ts';
import { files, kustomizationNames, variablesFileName } from './files.ts';
import { composePlan, readPlan } from './read-plan.ts';
import {
  nextRecord,
  type RecordedObject,
  readRecord,
  readRecordAsState,
  recordedKey,
  union,
} from './record.ts';

function refusals(job: Job): string[] {
  const environment = runEnvironment(job);
  const namespace = environment[namespaceVariable];
  const found = [
    namespace ? namespaceProblem('k8sNamespace', namespace) : null,
    job.targets.length > 0
      ? 'targets: a deployment on Kubernetes applies all its manifests; leave them out'
      : null,
    ...job.variables.environment.map(({ name }) =>
      variableRefusal(0, name, environment[name] ?? '', [facts]),
    ),
    ...job.variables.terraform.map(({ name, value }) => variableRefusal(1, name, value, [facts])),
  ];
  return [...new Set(found.filter((text) => text !== null))];
}

async function warnings({ job, tree }: Omit<DriverContext, 'stateFolder'>): Promise<string[]> {
  const found: string[] = [];
  const { content } = clusterVariables;
  if (job.variables.environment.some(({ name, isSensitive }) => name === content && !isSensitive))
    found.push(
      `${content} is not sensitive: anyone who may read the environment's variables sees the kubeconfig.`,
    );
  if (job.variables.terraform.length > 0 && (await tree.list('')).includes(variablesFileName))
    found.push(
      `The repository contains ${variablesFileName}, which the variables of the environment replace.`,
    );
  return found;
}

function recorded(
  { job }: DriverContext,
  captures: PhaseCaptures,
  objects: readonly RecordedObject[],
): Uint8Array {
  const toolVersion = job.approved?.parts.toolVersion ?? null;
  const { deploymentId } = job;
  return nextRecord(readRecord(captures.get(inputs.state)), objects, { deploymentId, toolVersion });
}

/** Objects that may be in the cluster from now on: those applied before, and those about to be. */
function recordBefore(context: DriverContext, captures: PhaseCaptures): Uint8Array {
  const { objects } = readApproved(captures.get(inputs.approved));
  const former = recordedObjects(captures);
  const known = new Map(former.map((entry) => [recordedKey(entry), entry]));
  const marked = objects.map(({ namespace, object, isOurs }): RecordedObject => {
    if (!isOurs) return { namespace, object, mayExist: true };
    const before = known.get(recordedKey({ namespace, object }));
    const isSame = before?.mayDiffer === undefined && isDeepStrictEqual(before?.object, object);
    return { namespace, object, ...(isSame ? {} : { mayDiffer: true }) };
  });
  return recorded(context, captures, union(former, marked));
}

/** Applied objects; all others were deleted, or no longer belong to the environment. */
function recordAfter(context: DriverContext, captures: PhaseCaptures): Uint8Array {
  const { objects } = readApproved(captures.get(inputs.approved));
  return recorded(
    context,
    captures,
    objects.map(({ namespace, object }) => ({ namespace, object })),
  );
}

export const k8s: Driver = {
  type: 'k8s',
  programs: ['kubectl', 'kustomize'],
  codeFiles: kustomizationNames,
  refusals,
  warnings,
  files,
  environment: (context) => ({
    ...clusterEnvironment(context),
    // A person's preferences, which may define other commands under these names.
    KUBECTL_KUBERC: 'false',
  }),
  prepare: async () => [],
  plan: planCommands,
  readPlan: async (context, captures) => readPlan(context, captures),
  isPlanLogged: true,
  apply: applyCommands,
  reason: kubectlReason,
  diagnostics: kubectlDiagnostics,
  state: {
    isOurs: async () => true,
    read: readRecordAsState,
    record: { before: recordBefore, after: recordAfter },
  },
  savedPlan: { compose: composePlan },
  progress: { fromLog: kubectlProgress },
};
