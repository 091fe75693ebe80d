/** Searching the log of all steps: what is looked for, how, and how much was found. */
import { ActionIcon, TextInput, Tooltip } from '@mantine/core';
import { searchBoxMark } from '../../../ui/search-box-mark.ts';
import classes from './log.module.css';
import type { LogSearch } from './use-search.ts';

const number = (value: number) => value.toLocaleString('en');

function countText({ search, count, ordinal }: LogSearch): string {
  if (search.text === '' || !count) return '';
  if (count.lines === 0) return count.remaining > 0 ? 'searching …' : 'nothing found';
  const place = ordinal === undefined ? '' : `${number(ordinal)} of `;
  const more = count.remaining > 0 ? '…' : '';
  const hits = count.hits > count.lines ? `, ${number(count.hits)} hits` : '';
  return `${place}${number(count.lines)}${more} ${count.lines === 1 ? 'line' : 'lines'}${hits}`;
}

interface OptionProps {
  readonly label: string;
  readonly text: string;
  readonly isOn: boolean;
  readonly onToggle: () => void;
}

function Option({ label, text, isOn, onToggle }: OptionProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        size="sm"
        variant={isOn ? 'filled' : 'subtle'}
        aria-pressed={isOn}
        aria-label={label}
        onClick={onToggle}
      >
        <span className={classes.option}>{text}</span>
      </ActionIcon>
    </Tooltip>
  );
}

function Options({ search, setSearch }: LogSearch) {
  const { isCaseSensitive, isRegex } = search;
  return (
    <>
      <Option
        label="Match case"
        text="Aa"
        isOn={isCaseSensitive}
        onToggle={() => setSearch({ ...search, isCaseSensitive: !isCaseSensitive })}
      />
      <Option
        label="Regular expression"
        text=".*"
        isOn={isRegex}
        onToggle={() => setSearch({ ...search, isRegex: !isRegex })}
      />
    </>
  );
}

interface GoProps {
  readonly log: LogSearch;
  readonly label: string;
  readonly text: string;
  readonly isBackwards: boolean;
}

function Go({ log, label, text, isBackwards }: GoProps) {
  const isNothing = log.search.text === '' || (log.count?.lines ?? 0) === 0;
  return (
    <ActionIcon
      size="md"
      variant="subtle"
      aria-label={label}
      disabled={isNothing}
      onClick={() => log.go(isBackwards)}
    >
      {text}
    </ActionIcon>
  );
}

export interface LogSearchBoxProps {
  readonly log: LogSearch;
}

export function SearchBox({ log }: LogSearchBoxProps) {
  const { search, error, setSearch, go } = log;
  const onKeyDown = (event: React.KeyboardEvent<HTMLInputElement>) => {
    if (event.key === 'Enter') go(event.shiftKey);
    else if (event.key === 'Escape') event.currentTarget.blur();
    else return;
    event.preventDefault();
  };
  return (
    <search className={classes.searchBox}>
      <TextInput
        {...searchBoxMark}
        className={classes.search!}
        size="xs"
        aria-label="Search the log"
        placeholder="Search all steps"
        value={search.text}
        error={error}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setSearch({ ...search, text: event.currentTarget.value })}
        onKeyDown={onKeyDown}
        rightSectionWidth={60}
        rightSection={<Options {...log} />}
      />
      <Go log={log} label="Previous hit" text="↑" isBackwards />
      <Go log={log} label="Next hit" text="↓" isBackwards={false} />
      <output className={classes.count} aria-live="polite">
        {countText(log)}
      </output>
    </search>
  );
}
