/** A field for a cron expression: what it means, and when it comes next. */
import { Button, Menu, Select, TextInput } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import classes from './cron.module.css';
import { readCron } from './cron.ts';

const presets = [
  ['Every hour', '0 * * * *'],
  ['Every day at 06:00', '0 6 * * *'],
  ['On working days at 18:00', '0 18 * * 1-5'],
  ['Every Sunday at 02:00', '0 2 * * 0'],
] as const;

/** The reader's zone is near the beginning of the list. */
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;

const local = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

const fieldsInWords = 'Minute, hour, day of month, month, day of week';

export interface CronFieldProps {
  readonly label: string;
  readonly description?: ReactNode;
  readonly value: string;
  readonly onChange: (pattern: string) => void;
  /** Default: UTC. */
  readonly timeZone?: string;
  /** Absent: the zone cannot be chosen. */
  readonly onTimeZone?: (timeZone: string) => void;
  readonly disabled?: boolean;
  readonly error?: string | undefined;
}

/** The next times in the zone of the reader. */
function NextTimes({ times }: { readonly times: readonly Date[] }) {
  if (times.length === 0) return null;
  return (
    <ol className={classes.next} aria-label="Next times">
      {times.map((time) => (
        <li key={time.getTime()}>
          <time dateTime={time.toISOString()} title={time.toUTCString()}>
            {local.format(time)}
          </time>
        </li>
      ))}
    </ol>
  );
}

interface ZoneProps {
  readonly label: string;
  readonly value: string;
  readonly disabled: boolean;
  readonly onChange: (timeZone: string) => void;
}

function ZoneSelect({ label, value, disabled, onChange }: ZoneProps) {
  const zones = useMemo(
    () => [...new Set(['UTC', value, here, ...Intl.supportedValuesOf('timeZone')])],
    [value],
  );
  return (
    <Select
      label="Time zone"
      aria-label={`Time zone of: ${label}`}
      mt="xs"
      maw="20rem"
      data={zones}
      value={value}
      disabled={disabled}
      searchable
      allowDeselect={false}
      nothingFoundMessage="No matching time zone"
      onChange={(zone) => onChange(zone ?? 'UTC')}
    />
  );
}

export function CronField(props: CronFieldProps) {
  const {
    label,
    description,
    value,
    onChange,
    timeZone = 'UTC',
    onTimeZone,
    disabled = false,
    error,
  } = props;
  const reading = useMemo(() => readCron(value, new Date(), timeZone), [value, timeZone]);
  const problem = value.trim() === '' ? undefined : reading.problem;
  return (
    <div>
      <div className={classes.line}>
        <TextInput
          label={label}
          description={description ?? (onTimeZone ? fieldsInWords : `${fieldsInWords}; in ${timeZone}`)}
          placeholder="0 6 * * *"
          autoComplete="off"
          spellCheck={false}
          classNames={{ input: classes.input! }}
          value={value}
          disabled={disabled}
          error={error ?? problem}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" disabled={disabled} aria-label={`Examples for: ${label}`}>
              Examples
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {presets.map(([words, pattern]) => (
              <Menu.Item key={pattern} onClick={() => onChange(pattern)}>
                {words} <code className={classes.pattern}>{pattern}</code>
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </div>
      {onTimeZone && <ZoneSelect label={label} value={timeZone} disabled={disabled} onChange={onTimeZone} />}
      {reading.words !== undefined && <p className={classes.words}>{reading.words}</p>}
      <NextTimes times={reading.next} />
    </div>
  );
}
