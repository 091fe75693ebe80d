/** Random choices that a seed repeats. */
import { randomInt } from 'node:crypto';

export interface Random {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** @throws Error for an empty list */
  pick<Value>(list: readonly Value[]): Value;
  /** True with a probability from 0 to 1. */
  chance(probability: number): boolean;
}

export const newSeed = (): number => randomInt(2 ** 32);

/** @param parts a seed, and what tells its sequences apart */
export function createRandom(...parts: readonly (number | string)[]): Random {
  // FNV-1a, then mulberry32: short, and good enough for choices.
  let state = 0x811c9dc5;
  for (const character of parts.join('/')) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick(list) {
      if (list.length === 0) throw new Error('There is nothing to choose from');
      return list[below(list.length)]!;
    },
    chance: (probability) => next() < probability,
  };
}
