/** Actions for the lines in the address. */
import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import classes from './log.module.css';
import type { LogSession } from './log-session.ts';
import type { LineSelection } from './selection.ts';
import type { ChosenLines } from './use-log.ts';

export interface SelectionBarProps {
  readonly selection: LineSelection;
  readonly session: LogSession;
  readonly chosen: ChosenLines;
}

export function SelectionBar({ selection, session, chosen }: SelectionBarProps) {
  const link = useClipboard();
  const text = useClipboard();
  const { step, from, to } = selection;
  const name = from === to ? `Line ${from}` : `Lines ${from} to ${to}`;
  const copyLink = () => link.copy(chosen.hrefOf(selection));
  const copyLines = () =>
    void session.ask('text', { step, from: from - 1, to }).then((lines) => text.copy(lines));
  return (
    <div className={classes.notice}>
      <span>
        {name} of <bdi>{step}</bdi>
      </span>
      <Button size="compact-xs" variant="default" onClick={copyLink}>
        {link.copied ? 'Link copied' : 'Copy link'}
      </Button>
      <Button size="compact-xs" variant="default" onClick={copyLines}>
        {text.copied ? 'Copied' : from === to ? 'Copy line' : 'Copy lines'}
      </Button>
      <Button size="compact-xs" variant="subtle" onClick={() => chosen.select(undefined)}>
        Clear
      </Button>
    </div>
  );
}
