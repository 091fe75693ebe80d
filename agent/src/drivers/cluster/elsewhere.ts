/**
 * Checks objects whose namespace does not exist yet. The cluster refuses dry runs in it; so they are made in another
 * one, which tells what is wrong with kinds and fields before half of a plan is applied.
 */
import type { Command, PhaseCaptures } from '../interface/command.ts';
import { allKubectlErrors, kubectlErrors } from './kubectl-output.ts';
import { inputOf, type KubernetesObject } from './objects.ts';

/** Every cluster has it. */
const otherNamespace = 'default';
const captured = { names: 'elsewhere.txt', errors: 'elsewhere-errors.txt' } as const;

/** Problem of an object in any namespace. */
const isOfObject =
  /\bis invalid: |^Error from server \(BadRequest\)|failed to create typed patch object|no matches for kind/;
/** Problems that only the other namespace has: it may have an object of that name, and its own rules. */
const isOfPlace =
  /field is immutable|may not be (?:changed|unset)|updates to \S+ .* are forbidden|admission webhook/;

interface ElsewhereRequest {
  readonly step: string;
  /** The command of kubectl that sends the objects, as the apply will. */
  readonly args: readonly string[];
  objects(captures: PhaseCaptures): readonly KubernetesObject[];
}

function errorsOf(captures: PhaseCaptures): { readonly fatal: string[]; readonly others: string[] } {
  const errors = kubectlErrors(Buffer.from(captures.get(captured.errors) ?? []).toString());
  const isFatal = (error: string) => isOfObject.test(error) && !isOfPlace.test(error);
  return { fatal: errors.filter(isFatal), others: errors.filter((error) => !isFatal(error)) };
}

function withoutNamespace(object: KubernetesObject): KubernetesObject {
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, name: object.metadata.name } };
}

/** A dry run of all objects in a namespace that exists. It fails with what is wrong with each of them. */
export function checkElsewhere({ step, args, objects }: ElsewhereRequest): Command {
  return {
    step,
    label: `kubectl ${args[0]} (dry run in namespace ${otherNamespace})`,
    program: 'kubectl',
    args: [...args, '--dry-run=server', `--namespace=${otherNamespace}`, '--filename=-', '--output=name'],
    input: (captures) => inputOf(objects(captures).map(withoutNamespace)),
    captureTo: captured.names,
    goodExitCodes: [1],
    finds: { pattern: /\S/, as: captured.errors },
    async next(captures) {
      const found = allKubectlErrors(errorsOf(captures).fatal.join('\n'));
      if (found === null) return [];
      throw new Error(
        `${found}\n(found in the namespace ${otherNamespace}, because the one of the object does not exist yet)`,
      );
    },
  };
}

/** Objects that could not be checked, for the log of a plan. */
export function uncheckedInWords(captures: PhaseCaptures): string[] {
  return errorsOf(captures).others.map(
    (error) =>
      `An object whose namespace does not exist yet could not be checked in the namespace ${otherNamespace}: ${error}`,
  );
}
