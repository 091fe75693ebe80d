/**
 * Reads the differences between what there is in a cluster and what there would be. `kubectl diff` writes both as one
 * file for each object into two folders, and starts a program that compares them. As it is called here, that program
 * prints both files of each object that differs, whole.
 */
import type { Job } from '#protocol/messages/job.ts';
import type { Command, PhaseCaptures } from '../interface/command.ts';
import { fieldManagerOf } from './field-owners.ts';
import { inputOf, type KubernetesObject, parseObjects } from './objects.ts';

/** Object as it is and as it would be; null: there is none. Values of Secrets are already hidden in both. */
export interface ObjectPair {
  readonly live: KubernetesObject | null;
  readonly merged: KubernetesObject | null;
}

/** More lines than any object has, so that each file is printed whole. kubectl takes no other characters. */
const comparing = 'diff -N -U1000000000';

/** Objects that are compared at the same time: the answers of a cluster take longer than the work of kubectl. */
const atOnce = 4;

/** More takes too long and too much memory to read. */
const mostBytes = 64_000_000;

interface DiffRequest {
  readonly job: Job;
  readonly step: string;
  readonly label: string;
  readonly captureTo: string;
  /** Fields that others manage are taken over. Otherwise such a conflict is an error. */
  readonly isForced: boolean;
  objects(captures: PhaseCaptures): readonly KubernetesObject[];
}

/** One process for all objects; it changes nothing. Without objects, it does not run. */
export function diffCommand({ job, step, label, captureTo, isForced, objects }: DiffRequest): Command {
  const force = isForced ? ['--force-conflicts'] : [];
  return {
    step,
    label,
    program: 'kubectl',
    args: [
      'diff',
      '--server-side',
      `--field-manager=${fieldManagerOf(job)}`,
      `--concurrency=${atOnce}`,
      ...force,
      '--filename=-',
    ],
    environment: { KUBECTL_EXTERNAL_DIFF: comparing },
    input: (captures) => inputOf(objects(captures)),
    captureTo,
    // As diff does: 1 says that there are differences.
    goodExitCodes: [1],
  };
}

interface ManifestLines {
  readonly live: string[];
  readonly merged: string[];
}

/** The two files of each object, line by line. */
function sidesOf(text: string): ManifestLines[] {
  const found: ManifestLines[] = [];
  let sides: ManifestLines | null = null;
  for (const line of text.split('\n')) {
    const [mark] = line;
    if (line.startsWith('diff ')) sides = null;
    else if (line.startsWith('@@ ')) found.push((sides = { live: [], merged: [] }));
    else if (sides !== null) {
      const rest = line.slice(1);
      if (mark === ' ' || mark === '-') sides.live.push(rest);
      if (mark === ' ' || mark === '+') sides.merged.push(rest);
    }
  }
  return found;
}

function objectOf(lines: readonly string[]): KubernetesObject | null {
  return parseObjects(lines.join('\n'), 'the output of kubectl diff')[0] ?? null;
}

/**
 * @param captured what `diffCommand` captured; undefined: it did not run
 * @returns the objects that differ, in the order of their files
 */
export function readDiff(captured: Uint8Array | undefined): ObjectPair[] {
  if (captured === undefined || captured.length === 0) return [];
  if (captured.length > mostBytes)
    throw new Error(
      'kubectl diff printed too much to be read: divide the configuration into several environments',
    );
  return sidesOf(Buffer.from(captured).toString()).map(({ live, merged }) => ({
    live: objectOf(live),
    merged: objectOf(merged),
  }));
}
