/** How the person sees the log: what is folded, wrapped, followed, and where it was scrolled to. */
import { useLocalStorage } from '@mantine/hooks';
import { useState } from 'react';
import type { Target } from './LogRows.tsx';
import type { LineSelection } from './selection.ts';

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

/**
 * @param isOver the log grows no more
 * @param selection lines to begin with; absent: what still grows is followed
 */
export function useView(isOver: boolean, selection: LineSelection | undefined) {
  const [isWrapped, setWrapped] = useFlag('wrap');
  const [hasTimes, setTimes] = useFlag('times');
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [target, setTarget] = useState<Target | undefined>(
    () => selection && { to: 'line', step: selection.step, line: selection.from - 1 },
  );
  const [isFollowing, setFollowing] = useState(!isOver && selection === undefined);
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
    target,
    isFollowing,
    setWrapped,
    setTimes,
    setFolded,
    /** The end stays in view, also while the log of the past is still coming. */
    setFollowing,
    fold,
    /** Shows a place, and unfolds its step. */
    goTo: (next: Target) => {
      setFollowing(false);
      if ('step' in next) fold(next.step, false);
      setTarget(next);
    },
  };
}

export type View = ReturnType<typeof useView>;
