/** Some lines of a step, read from the worker when they come into view. */
import { memo, useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { Line } from './Line.tsx';
import type { LogSession } from './log-session.ts';
import { shownCharacters } from './store/shown-lines.ts';
import { blockLines } from './store/step-log.ts';

export interface BlockProps {
  readonly session: LogSession;
  readonly step: string;
  readonly block: number;
  /** Current number of lines. */
  readonly lines: number;
  /** Changes when its text may have changed. */
  readonly version: string;
  /** First and last selected line, from 1 on; 0: none. */
  readonly selectedFrom: number;
  readonly selectedTo: number;
  /** The line of the search, from 1 on; 0: none. */
  readonly current: number;
  readonly hasTimes: boolean;
  /** Address of the page without the number of the line, which comes last. */
  readonly link: string;
}

const moreCharacters = 20_000;

export const Block = memo(function Block(props: BlockProps) {
  const { session, step, block, lines, version, selectedFrom, selectedTo, current, hasTimes, link } = props;
  const [longer, setLonger] = useState<Readonly<Record<number, number>>>({});
  const watch = useCallback(
    (listener: () => void) => session.watchBlock(step, block, listener),
    [session, step, block],
  );
  const shown = useSyncExternalStore(watch, () => session.block(step, block));
  useEffect(() => {
    session.readBlock(step, block, longer);
  }, [session, step, block, lines, version, longer]);
  const first = block * blockLines + 1;
  return Array.from({ length: lines }, (_, index) => {
    const number = first + index;
    return (
      <Line
        key={number}
        number={number}
        line={shown?.[index]}
        href={`${link}${number}`}
        isSelected={number >= selectedFrom && number <= selectedTo}
        isCurrent={number === current}
        hasTimes={hasTimes}
        onMore={() =>
          setLonger((before) => ({ ...before, [index]: (before[index] ?? shownCharacters) + moreCharacters }))
        }
      />
    );
  });
});
