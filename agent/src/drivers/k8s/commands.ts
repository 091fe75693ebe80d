/** The commands of runs on Kubernetes. */

import { recordOf } from '#contract/schema/is-record.ts';
import { k8s as facts } from '#protocol/tools/k8s.ts';
import { diffCommand } from '../cluster/diff.ts';
import { checkElsewhere } from '../cluster/elsewhere.ts';
import { fieldManagerOf } from '../cluster/field-owners.ts';
import {
  groupOf,
  inputOf,
  isBuiltIn,
  isDefinition,
  isNamespace,
  type KubernetesObject,
} from '../cluster/objects.ts';
import { type Command, inputs, type PhaseCaptures } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { type ApprovedObject, namespaceObject, readApproved } from './approved-plan.ts';
import { liveDeletions, servedReferences } from './deletions.ts';
import { renderCommand } from './files.ts';
import { type RecordedObject, readRecord } from './record.ts';
import {
  basisOf,
  captured,
  environmentLabel,
  isBasis,
  missingOf,
  readWanted,
  variablesOf,
  type WantedObject,
} from './wanted.ts';

const program = 'kubectl';
const { plan: planStep, apply: applyStep, destroy: destroyStep } = facts.steps;

type ReadingCommand = Pick<Command, 'step' | 'label' | 'captureTo'> & {
  objects(captures: PhaseCaptures): readonly KubernetesObject[];
};

/** Those of some objects that there are. */
function getCommand({ objects, ...rest }: ReadingCommand & { readonly captureTo: string }): Command {
  return {
    ...rest,
    program,
    args: ['get', '--ignore-not-found', '--output=json', '--filename=-'],
    input: (captures) => inputOf(objects(captures)),
  };
}

/**
 * Objects to delete, as far as they exist. Objects of kinds that the cluster no longer has are gone; that an object
 * cannot be looked up for another reason ends the run, or it would be forgotten.
 */
function findDeletions(
  step: string,
  deletions: (captures: PhaseCaptures) => readonly RecordedObject[],
): Command[] {
  return [
    {
      step,
      program,
      label: 'kubectl api-resources',
      args: ['api-resources', '--no-headers'],
      when: (captures) => deletions(captures).length > 0,
      captureTo: captured.kinds,
    },
    getCommand({
      step,
      label: 'kubectl get (objects to delete)',
      captureTo: captured.deletions,
      objects: (captures) => servedReferences(deletions(captures), captures),
    }),
  ];
}

function compare(context: DriverContext, which: 'ours' | 'others'): Command {
  const { forcesConflicts } = variablesOf(context);
  const isOurs = (object: WantedObject) => (object.recorded !== undefined) === (which === 'ours');
  return diffCommand({
    job: context.job,
    step: planStep,
    label: `kubectl diff (${which === 'ours' ? 'applied before' : 'new'})`,
    captureTo: captured[which],
    isForced: which === 'ours' || forcesConflicts,
    objects(captures) {
      const wanted = readWanted(context, captures);
      const { isNew } = missingOf(wanted, captures);
      const known = wanted.objects.filter((object) => isOurs(object) && !isNew(object));
      return known.map(({ object }) => object);
    },
  });
}

/** Finds out what is wrong with objects whose namespace the apply makes, ahead of it. */
function compareElsewhere(context: DriverContext): Command {
  const args = ['apply', '--server-side', '--force-conflicts', '--validate=false'];
  return checkElsewhere({
    step: planStep,
    args: [...args, `--field-manager=${fieldManagerOf(context.job)}`],
    objects(captures) {
      const wanted = readWanted(context, captures);
      const { isNew, isOfNewKind } = missingOf(wanted, captures);
      return wanted.objects
        .filter((object) => isNew(object) && !isOfNewKind(object))
        .map(({ object }) => object);
    },
  });
}

/** A drift run searches these kinds for objects of the environment that are not declared. */
const searchedKinds = [
  'configmaps',
  'secrets',
  'services',
  'serviceaccounts',
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'jobs.batch',
  'cronjobs.batch',
  'ingresses.networking.k8s.io',
];

/** A user without the right to list some of the kinds sees the others. */
function findLabelled({ job }: DriverContext): Command {
  const selector = `--selector=${environmentLabel}=${job.environmentId}`;
  return {
    step: planStep,
    program,
    label: 'kubectl get (objects of the environment)',
    args: ['get', searchedKinds.join(','), selector, '--output=json'],
    goodExitCodes: [1],
    captureTo: captured.labelled,
  };
}

/** Says in which namespace objects are that name none. */
function showContext(): Command {
  return {
    step: planStep,
    program,
    label: 'kubectl config view',
    args: ['config', 'view', '--minify', '--output=json'],
    captureTo: captured.kubeconfig,
  };
}

export function planCommands(context: DriverContext): Command[] {
  const { job } = context;
  const shows = variablesOf(context).namespace === undefined ? [showContext()] : [];
  const deletions = findDeletions(planStep, (captures) => readWanted(context, captures).deletions);
  if (job.type === 'destroy') return [...shows, ...deletions];
  return [
    ...shows,
    renderCommand(context, planStep, captured.rendered),
    getCommand({
      step: planStep,
      label: 'kubectl get (namespaces and definitions)',
      captureTo: captured.basis,
      objects: (captures) => basisOf(readWanted(context, captures)),
    }),
    compare(context, 'ours'),
    compare(context, 'others'),
    compareElsewhere(context),
    ...deletions,
    ...(job.type === 'driftDetection' ? [findLabelled(context)] : []),
  ];
}

/** @param what begins a part of the label */
function applyPair(
  context: DriverContext,
  what: string,
  isWanted: (object: KubernetesObject) => boolean,
): Command[] {
  const { forcesConflicts } = variablesOf(context);
  const one = (whose: string, isForced: boolean, isOne: (object: ApprovedObject) => boolean): Command => ({
    step: applyStep,
    program,
    label: `kubectl apply (${what}, ${whose})`,
    args: [
      'apply',
      '--server-side',
      `--field-manager=${fieldManagerOf(context.job)}`,
      // The cluster refuses unknown fields anyhow, and kubectl needs 40 ms to check an object.
      '--validate=false',
      ...(isForced ? ['--force-conflicts'] : []),
      '--filename=-',
    ],
    input(captures) {
      const { objects, namespaceToCreate } = readApproved(captures.get(inputs.approved));
      const made = namespaceToCreate === null ? [] : [namespaceObject(namespaceToCreate)];
      const extra = whose === 'new' ? made.filter(isWanted) : [];
      const chosen = objects.filter((object) => isOne(object) && isWanted(object.object));
      return inputOf([...extra, ...chosen.map(({ object }) => object)]);
    },
    isChanging: true,
  });
  return [
    one('new', forcesConflicts, ({ isOurs }) => !isOurs),
    one('applied before', true, ({ isOurs }) => isOurs),
  ];
}

const definitionSeconds = 60;

function awaitDefinitions(): Command {
  return {
    step: applyStep,
    program,
    label: 'kubectl wait (definitions)',
    args: ['wait', '--for=condition=Established', `--timeout=${definitionSeconds}s`, '--filename=-'],
    input: (captures) =>
      inputOf(
        readApproved(captures.get(inputs.approved))
          .objects.map(({ object }) => object)
          .filter(isDefinition),
      ),
  };
}

/** Whether `kubectl rollout status` can tell when an object is ready. */
function hasRollout(object: KubernetesObject): boolean {
  if (groupOf(object) !== 'apps') return false;
  const { paused, updateStrategy } = recordOf(object['spec']);
  if (object.kind === 'Deployment') return paused !== true;
  return (
    ['StatefulSet', 'DaemonSet'].includes(object.kind) && recordOf(updateStrategy)['type'] !== 'OnDelete'
  );
}

/**
 * Waits for what was applied; shows what happens during the wait, and what may be the reason if it takes too
 * long.
 */
function awaitRollouts(context: DriverContext): Command[] {
  const { waitSeconds } = variablesOf(context);
  if (waitSeconds === 0) return [];
  return [
    {
      step: applyStep,
      program,
      label: `kubectl rollout status (at most ${waitSeconds} s)`,
      args: ['rollout', 'status', `--timeout=${waitSeconds}s`, '--filename=-'],
      input: (captures) =>
        inputOf(
          readApproved(captures.get(inputs.approved))
            .objects.map(({ object }) => object)
            .filter(hasRollout),
        ),
      companion: {
        program,
        label: 'kubectl get events',
        args: ['get', 'events', '--watch-only'],
      },
      afterFailure: [
        { program, label: 'kubectl get pods', args: ['get', 'pods', '--output=wide'] },
        {
          program,
          label: 'kubectl get events (warnings)',
          args: ['get', 'events', '--field-selector=type=Warning', '--sort-by=.lastTimestamp'],
        },
      ],
    },
  ];
}

/** Later kinds are needed by earlier ones. */
function rank(object: KubernetesObject): number {
  if (isNamespace(object)) return 3;
  if (isDefinition(object)) return 2;
  return isBuiltIn(object) ? 1 : 0;
}

function deleteCommand(context: DriverContext, step: string): Command {
  const { waitSeconds } = variablesOf(context);
  const waiting = waitSeconds === 0 ? ['--wait=false'] : ['--wait', `--timeout=${waitSeconds}s`];
  return {
    step,
    program,
    label: waitSeconds === 0 ? 'kubectl delete' : `kubectl delete (at most ${waitSeconds} s)`,
    args: ['delete', '--ignore-not-found', ...waiting, '--filename=-'],
    input: (captures) =>
      inputOf(
        liveDeletions(context, captures)
          .toReversed()
          .sort((left, right) => rank(left) - rank(right)),
      ),
    isChanging: true,
  };
}

export function applyCommands(context: DriverContext): Command[] {
  if (context.job.type === 'destroy')
    return [
      ...findDeletions(destroyStep, (captures) => readApproved(captures.get(inputs.approved)).deletions),
      deleteCommand(context, destroyStep),
    ];
  return [
    ...findDeletions(applyStep, (captures) => readApproved(captures.get(inputs.approved)).deletions),
    ...applyPair(context, 'namespaces and definitions', isBasis),
    awaitDefinitions(),
    ...applyPair(context, 'objects', (object) => !isBasis(object)),
    deleteCommand(context, applyStep),
    ...awaitRollouts(context),
  ];
}

/** Objects applied before; empty for a new environment. */
export function recordedObjects(captures: PhaseCaptures): readonly RecordedObject[] {
  return readRecord(captures.get(inputs.state))?.objects ?? [];
}
