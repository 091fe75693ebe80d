/** The calendar: what is going to happen to environments automatically, with filters in the address. */
import { Button, Group, TextInput } from '@mantine/core';
import type { Reply } from '../../api/queries.ts';
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { Segments } from '../../forms/Segments.tsx';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import { useNextHour } from '../../ui/Time.tsx';
import { Agenda } from './Agenda.tsx';
import { chosen, dateOf, daysOf, momentOf } from './agenda.ts';
import classes from './calendar.module.css';

const dayMilliseconds = 86_400_000;
const month = 31;
const week = 7;

function Filters() {
  const [{ project, from, days, show }, change] = useSearchState();
  const moment = momentOf(from);
  return (
    <Group align="flex-end" mb="lg">
      <ProjectSelect
        label="Project"
        placeholder="All"
        clearable
        value={project ?? ''}
        onChange={(id) => change({ project: id || undefined })}
      />
      <TextInput
        type="date"
        label="From"
        value={moment === undefined ? '' : dateOf(new Date(moment))}
        onChange={({ currentTarget }) => change({ from: currentTarget.value || undefined })}
      />
      <Segments
        label="How far"
        data={[
          { value: 'week', label: '7 days' },
          { value: 'month', label: '31 days' },
        ]}
        value={days === String(month) ? 'month' : 'week'}
        onChange={(value) => change({ days: value === 'month' ? String(month) : undefined })}
      />
      <Segments
        label="What"
        data={[
          { value: 'all', label: 'Everything' },
          { value: 'runs', label: 'Deploys and destroys' },
          { value: 'drift', label: 'Drift checks' },
          { value: 'ends', label: 'Ends of lifetimes' },
        ]}
        value={show ?? 'all'}
        onChange={(value) => change({ show: value === 'all' ? undefined : value })}
      />
    </Group>
  );
}

/** Filters in the address. */
function useQuestion() {
  const { organizationId } = useSession();
  const [{ project, from: fromText, days }] = useSearchState();
  const thisHour = (useNextHour() - 1) * 3_600_000;
  const from = momentOf(fromText);
  const length = (days === String(month) ? month : week) * dayMilliseconds;
  const to = new Date((from === undefined ? thisHour : Date.parse(from)) + length).toISOString();
  return { organizationId, to, ...(project ? { projectId: project } : {}), ...(from ? { from } : {}) };
}

function Found({ calendar }: { readonly calendar: Reply<'getCalendar'> }) {
  const [{ show }, change] = useSearchState();
  const entries = chosen(calendar.entries, show);
  const { nextFrom } = calendar;
  return (
    <>
      {entries.length === 0 && nextFrom === undefined ? (
        <EmptyState title="Nothing is scheduled in this period">
          Environments get a lifetime and schedules on their pages. Choose a longer time, another project, or
          everything, to see more.
        </EmptyState>
      ) : (
        <Agenda days={daysOf(entries)} />
      )}
      {nextFrom !== undefined && (
        <div className={classes.more}>
          There are more events than fit here.
          <Button size="xs" variant="default" onClick={() => change({ from: nextFrom }, true)}>
            Show later events
          </Button>
        </div>
      )}
    </>
  );
}

export function CalendarPage() {
  const query = useQuestion();
  const read = useRead('getCalendar', { query });
  const words = [
    ...(query.projectId === undefined ? [] : ['--project', query.projectId]),
    ...(query.from === undefined ? [] : ['--from', query.from]),
    '--to',
    query.to,
  ];
  return (
    <Page
      title="Calendar"
      lead="What happens to environments automatically: schedules, drift checks, and the ends of lifetimes with their notices. Times are those of your clock."
      calls={[callOf('Get calendar', 'getCalendar', { query }, ['calendar', ...words])]}
    >
      <Filters />
      <Loaded query={read} lines={10}>
        {(calendar) => <Found calendar={calendar} />}
      </Loaded>
    </Page>
  );
}
