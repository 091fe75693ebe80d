/** Compares two state files of which only one at a time is in memory. */
import { areUnitStates, readUnitStates } from '#protocol/tools/terragrunt-state.ts';
import { compareStates } from './compare-states.ts';
import { digestsOf, excerptOf, type StateDigests, type StateExcerpt } from './state-excerpt.ts';
import { open, type StateFile } from './state-instances.ts';
import { release } from './whole-bytes.ts';

/** The files in the order in which they are needed. */
export const comparisonSteps = ['before', 'after', 'beforeAgain'] as const;

/** A state file as it is stored. */
export interface ComparisonTask {
  readonly step: (typeof comparisonSteps)[number];
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Values that no reader may see. */
  readonly secrets: readonly string[];
}

/** The differences as JSON text, empty before the last step, or why the two cannot be compared here. */
export type ComparisonAnswer =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly problem: string };

/** Longer differences are nothing that a person reads. */
const longestCharacters = 8 * 1024 * 1024;

const nothing: ComparisonAnswer = { text: '' };

/** One comparison. */
/** Whether OpenTofu has encrypted a state, or that of a unit. */
function isEncrypted(bytes: Uint8Array): boolean {
  if (areUnitStates(bytes)) return [...readUnitStates(bytes).units.values()].some(isEncrypted);
  return open<StateFile>(bytes).value.encrypted_data !== undefined;
}

export class StateComparer {
  #before: StateDigests = { instances: new Map(), outputs: new Map() };
  #after: StateExcerpt = { instances: new Map(), outputs: new Map(), isCopied: true };

  /** Takes the file of the next step, whose bytes are not usable afterwards. */
  take({ step, bytes, secrets }: ComparisonTask): ComparisonAnswer {
    try {
      return step === 'beforeAgain' ? this.#compare(bytes, secrets) : this.#keep(step, bytes);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { problem: 'One of the two states is nested too deeply to be compared here: download both' };
    }
  }

  #keep(step: 'before' | 'after', bytes: Uint8Array<ArrayBuffer>): ComparisonAnswer {
    if (isEncrypted(bytes))
      return {
        problem:
          'One of the two states is encrypted by OpenTofu and cannot be compared here: pull both with tofu',
      };
    if (step === 'before') this.#before = digestsOf(bytes);
    else this.#after = excerptOf(bytes, this.#before);
    if (step === 'before' || this.#after.isCopied) release(bytes);
    return nothing;
  }

  #compare(before: Uint8Array, secrets: readonly string[]): ComparisonAnswer {
    const differences = compareStates(before, this.#after, secrets, longestCharacters);
    const text = differences === null ? '' : JSON.stringify(differences);
    if (differences !== null && text.length <= longestCharacters) return { text };
    return { problem: 'The two states differ in too much to be shown here: download both' };
  }
}
