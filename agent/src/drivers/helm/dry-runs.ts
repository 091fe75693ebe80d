/** Cluster's results for the changes of an upgrade, by dry runs. */
import { join } from 'node:path';
import { helm as facts } from '#protocol/tools/helm.ts';
import type { ObjectPair } from '../cluster/diff.ts';
import { checkElsewhere } from '../cluster/elsewhere.ts';
import { allKubectlErrors } from '../cluster/kubectl-output.ts';
import {
  identityOf,
  inputOf,
  type KubernetesObject,
  parseJsonObjects,
  parseObjects,
} from '../cluster/objects.ts';
import type { Command, PhaseCaptures } from '../interface/command.ts';
import type { DriverContext } from '../interface/driver.ts';
import { captured, missingNamespaces, releaseNamespace } from './captures.ts';
import {
  isReplacing,
  type ObjectChange,
  type ObjectPatch,
  repairChanges,
  upgradeChanges,
  wantedObject,
} from './object-changes.ts';
import { objectKey } from './releases.ts';

const { plan: step } = facts.steps;
const program = 'kubectl';

function isDrift({ job }: DriverContext): boolean {
  return job.type === 'driftDetection';
}

/** Before the name of what a patch has printed, among the captures. */
const errorsOf = 'errors-';

/** Ends well where the cluster refuses the patch: what it refuses of all objects is reported at once. */
function patchCommand(
  { temporaryFolder }: DriverContext,
  { address, object, captureTo, isRepair }: ObjectChange,
  { type, fields }: ObjectPatch,
): Command {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace } = metadata;
  const file = `patch-${captureTo}`;
  const place = namespace === undefined ? {} : { namespace };
  return {
    step,
    program,
    label: `kubectl patch ${address} (${isRepair ? 'last revision' : 'dry run'})`,
    args: [
      'patch',
      '--filename=-',
      `--type=${type}`,
      `--patch-file=${join(temporaryFolder, file)}`,
      '--dry-run=server',
      '--output=json',
    ],
    writes: () => [{ name: file, content: JSON.stringify(fields) }],
    input: () => JSON.stringify({ apiVersion, kind, metadata: { name, ...place } }),
    captureTo,
    goodExitCodes: [1],
    finds: { pattern: /\S/, as: errorsOf + captureTo },
  };
}

type Listing = Pick<Command, 'label' | 'args'> & {
  readonly captureTo: string;
  readonly objects: readonly KubernetesObject[];
};

function sending(context: DriverContext, { objects, args, ...rest }: Listing): Command {
  return {
    ...rest,
    step,
    program,
    // As helm sends them: it has checked the fields itself.
    args: [...args, '--validate=false', '--dry-run=server', '--filename=-', '--output=yaml'],
    input: () => inputOf(objects),
    ...(isDrift(context) ? { goodExitCodes: [1] } : {}),
  };
}

/** The commands that find out what happens to the objects, once it is known what they are. */
export function dryRuns(context: DriverContext, captures: PhaseCaptures): Command[] {
  const namespace = releaseNamespace(context, captures);
  const missing = missingNamespaces(context, captures);
  const changes = upgradeChanges(context, captures);
  const created = changes.filter(({ live }) => live === null).map(({ object }) => object);
  const isElsewhere = (object: KubernetesObject) => missing.has(identityOf(object, namespace).namespace);
  const there = changes.filter(({ live }) => live !== null);
  const isWhole = isReplacing(context);
  const patched = [...(isWhole ? [] : there), ...(isDrift(context) ? repairChanges(context, captures) : [])];
  const patches = new Map(patched.map((change) => [change.captureTo, change]));
  return [
    sending(context, {
      label: 'kubectl create (dry run)',
      args: ['create'],
      captureTo: captured.created,
      objects: created.filter((object) => !isElsewhere(object)),
    }),
    checkElsewhere({
      step,
      args: ['create', '--validate=false'],
      objects: () => created.filter(isElsewhere),
    }),
    sending(context, {
      label: 'kubectl replace (dry run)',
      args: ['replace'],
      captureTo: captured.replaced,
      objects: isWhole ? there.map(({ object }) => object) : [],
    }),
    ...[...patches.values()].flatMap((change) =>
      change.patch === null ? [] : [patchCommand(context, change, change.patch)],
    ),
  ];
}

function resultsOf(captures: PhaseCaptures, name: string, namespace: string): Map<string, KubernetesObject> {
  const bytes = captures.get(name);
  const objects = bytes === undefined ? [] : parseObjects(bytes, 'the output of kubectl');
  return new Map(objects.map((object) => [objectKey(object, namespace), object]));
}

/** @throws Error with everything that the cluster refuses, unless this is a drift run */
function throwIfRefused(
  context: DriverContext,
  captures: PhaseCaptures,
  refused: readonly ObjectChange[],
): void {
  if (refused.length === 0 || isDrift(context)) return;
  const found = refused.map(({ captureTo }) => captures.get(errorsOf + captureTo) ?? new Uint8Array());
  const text = Buffer.concat(found.flatMap((bytes) => [bytes, Buffer.from('\n')])).toString();
  const names = refused.map(({ address }) => address).join(', ');
  throw new Error(allKubectlErrors(text) ?? `the cluster does not take the changes of ${names}`);
}

/** Objects as they are and as the changes leave them. */
function pairsOf(
  context: DriverContext,
  captures: PhaseCaptures,
  changes: readonly ObjectChange[],
  isWhole: boolean,
): ObjectPair[] {
  const namespace = releaseNamespace(context, captures);
  const whole = new Map([
    ...resultsOf(captures, captured.created, namespace),
    ...resultsOf(captures, captured.replaced, namespace),
  ]);
  const refused: ObjectChange[] = [];
  const pairs = changes.flatMap((change): ObjectPair[] => {
    const { object, live, patch, captureTo } = change;
    if (live === null || isWhole)
      return [{ live, merged: whole.get(objectKey(object, namespace)) ?? object }];
    if (patch === null) return [];
    const [merged] = parseJsonObjects(captures.get(captureTo));
    if (merged === undefined) refused.push(change);
    return [{ live, merged: merged ?? wantedObject(change) }];
  });
  throwIfRefused(context, captures, refused);
  return pairs;
}

/** Objects that an upgrade creates and changes. @throws Error with everything that the cluster refuses */
export function upgradedPairs(context: DriverContext, captures: PhaseCaptures): ObjectPair[] {
  return pairsOf(context, captures, upgradeChanges(context, captures), isReplacing(context));
}

/** Differences from the state that the last revision has left. */
export function repairedPairs(context: DriverContext, captures: PhaseCaptures): ObjectPair[] {
  return pairsOf(context, captures, repairChanges(context, captures), false);
}
