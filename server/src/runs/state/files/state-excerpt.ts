/**
 * Differences between a state and another one, of which only digests are available: two large ones fill the
 * memory.
 */
import { digestOf } from '#guards/json-bytes.ts';
import { type FoundInstance, instancesOf, outputsOf } from './state-instances.ts';

/** Hashes of instances by address and of outputs by name, whatever is between their values. */
export interface StateDigests {
  readonly instances: ReadonlyMap<string, string>;
  readonly outputs: ReadonlyMap<string, string>;
}

/** Instances by address and outputs by name; null for each that the other state has, too, and the same. */
export interface StateExcerpt {
  readonly instances: ReadonlyMap<string, FoundInstance | null>;
  readonly outputs: ReadonlyMap<string, Uint8Array | null>;
  /** It was copied: nothing of it is in the memory of the state. */
  readonly isCopied: boolean;
}

function mapped<From, To>(
  map: ReadonlyMap<string, From>,
  change: (value: From, key: string) => To,
): Map<string, To> {
  return new Map([...map].map(([key, value]) => [key, change(value, key)]));
}

/** The digests of a state that is not encrypted, as a file. */
export function digestsOf(state: Uint8Array): StateDigests {
  return {
    instances: mapped(instancesOf(state), ({ bytes }) => digestOf(bytes)),
    outputs: mapped(outputsOf(state), digestOf),
  };
}

/**
 * Copies what differs where that is less than half of the state; its memory can be released then.
 * @param state that is not encrypted, as a file
 * @param other digests of the state with which it is to be compared
 */
export function excerptOf(state: Uint8Array, other: StateDigests): StateExcerpt {
  let bytes = 0;
  const differing = (value: Uint8Array, digest: string | undefined) => {
    if (digest !== undefined && digest === digestOf(value)) return false;
    bytes += value.length;
    return true;
  };
  const instances = mapped(instancesOf(state), (instance, address) =>
    differing(instance.bytes, other.instances.get(address)) ? instance : null,
  );
  const outputs = mapped(outputsOf(state), (output, name) =>
    differing(output, other.outputs.get(name)) ? output : null,
  );
  if (bytes > state.length / 2) return { instances, outputs, isCopied: false };
  return {
    instances: mapped(instances, (kept) => kept && { ...kept, bytes: new Uint8Array(kept.bytes) }),
    outputs: mapped(outputs, (kept) => kept && new Uint8Array(kept)),
    isCopied: true,
  };
}
