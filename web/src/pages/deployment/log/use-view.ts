/** View of the log: folded, wrapped, followed, and the scroll position. */
import { useLocalStorage } from '@mantine/hooks';
import { useState } from 'react';
import type { ScrollTarget } from './LogRows.tsx';
import type { ChosenLines } from './use-log.ts';

/** Kept for the next log. */
function useFlag(name: string) {
  return useLocalStorage({
    key: `envarium.log.${name}`,
    defaultValue: false,
    getInitialValueInEffect: false,
    serialize: String,
    deserialize: (text) => text === 'true',
  });
}

/** Target of the address: lines, or the head of a step. */
export function targetOf({
  step,
  selection,
}: Pick<ChosenLines, 'step' | 'selection'>): ScrollTarget | undefined {
  if (selection) return { to: 'line', step: selection.step, line: selection.from - 1 };
  return step === undefined ? undefined : { to: 'top', step, line: 0 };
}

/**
 * @param isOver the log grows no more
 * @param first the place to begin with; absent: what still grows is followed
 */
export function useView(isOver: boolean, first: ScrollTarget | undefined) {
  const [isWrapped, setWrapped] = useFlag('wrap');
  const [hasTimes, setTimes] = useFlag('times');
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [starts, setStarts] = useState<ReadonlyMap<string, number>>(new Map());
  const [target, setTarget] = useState(first);
  const [isFollowing, setFollowing] = useState(!isOver && first === undefined);
  const fold = (name: string, isFolded: boolean) =>
    setFolded((before) => {
      const next = new Set(before);
      if (isFolded) next.add(name);
      else next.delete(name);
      return next;
    });
  return {
    isWrapped,
    hasTimes,
    folded,
    /** Start of the shown part of a very long log, by step. */
    starts,
    target,
    isFollowing,
    setWrapped,
    setTimes,
    setFolded,
    /** The end stays in view, also while the log of the past is still coming. */
    setFollowing,
    fold,
    setStart: (step: string, start: number) => setStarts((before) => new Map(before).set(step, start)),
    /** Shows a place, and unfolds its step. */
    goTo: (next: ScrollTarget) => {
      setFollowing(false);
      if ('step' in next) fold(next.step, false);
      setTarget(next);
    },
  };
}

export type LogView = ReturnType<typeof useView>;
