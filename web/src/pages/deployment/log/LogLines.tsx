/** The steps of a deployment with their lines. */
import { memo, useCallback, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import type { Step } from '#contract/deployments/shapes.ts';
import { Line } from './Line.tsx';
import { LogRows } from './LogRows.tsx';
import type { LogLayout } from './layout.ts';
import type { LogSession, LogState } from './log-session.ts';
import { StepHead } from './StepHead.tsx';
import { extended } from './selection.ts';
import type { LogPosition } from './store/search.ts';
import { shownCharacters } from './store/shown-lines.ts';
import { blockLines } from './store/step-log.ts';
import type { ChosenLines } from './use-log.ts';
import type { LogView } from './use-view.ts';

interface BlockProps {
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

/** Some lines of a step, read from the worker when they come into view. */
const Block = memo(function Block(props: BlockProps) {
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

export interface LogLinesProps {
  readonly session: LogSession;
  readonly state: LogState;
  readonly layout: LogLayout;
  readonly steps: readonly Step[];
  readonly view: LogView;
  readonly chosen: ChosenLines;
  /** The line of the search. */
  readonly searchHit: LogPosition | undefined;
  readonly onTop: (place: LogPosition) => void;
  readonly onDownload: (step: string) => void;
}

interface BlockOfStepProps extends LogLinesProps {
  readonly at: number;
  readonly block: number;
  readonly lines: number;
}

function BlockOfStep(props: BlockOfStepProps) {
  const { session, state, layout, view, chosen, searchHit, at, block, lines } = props;
  const { name, lines: all } = layout.steps[at]!;
  const isLast = (block + 1) * blockLines >= all;
  const selection = chosen.selection?.step === name ? chosen.selection : undefined;
  return (
    <div data-step={name}>
      <Block
        session={session}
        step={name}
        block={block}
        lines={lines}
        version={`${state.searchNumber} ${isLast ? state.sizes.get(name)?.bytes : ''}`}
        selectedFrom={selection?.from ?? 0}
        selectedTo={selection?.to ?? 0}
        current={searchHit?.step === name ? searchHit.line + 1 : 0}
        hasTimes={view.hasTimes}
        link={chosen.hrefOf({ step: name, from: 1, to: 1 }).replace(/1$/, '')}
      />
    </div>
  );
}

/** Numbers of lines are links; a click selects the line here, with Shift up to it. */
function selectLine(event: React.MouseEvent, { selection, select }: ChosenLines): void {
  const number = (event.target as Element).closest<HTMLElement>('[data-number]');
  const step = number?.closest<HTMLElement>('[data-step]')?.dataset.step;
  if (!number || step === undefined || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  select(extended(event.shiftKey ? selection : undefined, step, Number(number.dataset.number)));
}

export function LogLines(props: LogLinesProps) {
  const { layout, steps, view, chosen, onTop, onDownload } = props;
  const byName = useMemo(() => new Map(steps.map((step) => [step.name, step])), [steps]);
  return (
    <LogRows
      label="Log of all steps"
      layout={layout}
      target={view.target}
      isWrapped={view.isWrapped}
      isFollowing={view.isFollowing}
      onFollow={view.setFollowing}
      onTop={onTop}
      onPart={view.setStart}
      onClick={(event) => selectLine(event, chosen)}
      renderHead={(at) => {
        const laidOut = layout.steps[at]!;
        const { name, isFolded } = laidOut;
        return (
          <StepHead
            laidOut={laidOut}
            step={byName.get(name)}
            onFold={() => view.fold(name, !isFolded)}
            onPart={(start) => {
              view.setStart(name, start);
              view.goTo({ to: 'top', step: name, line: start });
            }}
            onDownload={() => onDownload(name)}
          />
        );
      }}
      renderBlock={(at, block, lines) => <BlockOfStep {...props} at={at} block={block} lines={lines} />}
    />
  );
}
