/** `calendar`: what is going to happen to environments automatically. */
import type { Command } from 'commander';
import type { CalendarEntry } from '#contract/calendar/shapes.ts';
import { onCall, timeFlag } from '../../call/command-line.ts';
import { findOrganization, findProject } from '../../find/find-environment.ts';
import { timeText } from '../../terminal/durations.ts';
import type { TableColumn } from '../../terminal/table.ts';

interface CalendarFlags {
  readonly project?: string;
  readonly from?: string;
  readonly to?: string;
}

/** The time within a sentence of the service as the table has times. */
function withReadableTimes(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => timeText(at));
}

const columns: TableColumn<CalendarEntry>[] = [
  { head: 'TIME', value: ({ at }) => timeText(at), isWhole: true },
  { head: 'ENVIRONMENT', value: ({ environmentName }) => environmentName },
  {
    head: 'WHAT',
    value: ({ text, held }) => withReadableTimes(held === undefined ? text : `${text} – held: ${held}`),
  },
  {
    head: 'SCHEDULE',
    value: ({ cron, timeZone, isRepeated }) =>
      cron === undefined ? '' : `${cron} ${timeZone ?? ''}${isRepeated ? ', several times that day' : ''}`,
  },
  { head: 'PROJECT', value: ({ projectName }) => projectName, isExtra: true },
  { head: 'ID', value: ({ environmentId }) => environmentId, isExtra: true },
];

/** Adds `calendar`. */
export function addCalendarCommand(program: Command): void {
  const calendar = program
    .command('calendar')
    .description('list scheduled events: deploys, destroys, drift checks and ends of lifetimes')
    .option('--project <project>', 'only environments of this project: its id or exact name')
    .option('--from <time>', 'default: now')
    .option('--to <time>', 'default: seven days later');
  onCall<CalendarFlags>(calendar, async ({ session, options }) => {
    const { client, output, isJson } = session;
    const { id: organizationId } = await findOrganization(session);
    const projectId =
      options.project === undefined
        ? undefined
        : (await findProject(client, organizationId, options.project)).id;
    const query = {
      organizationId,
      projectId,
      from: timeFlag('--from', options.from),
      to: timeFlag('--to', options.to),
    };
    const found = await client.call('getCalendar', { query });
    if (isJson) return output.json(found);
    await output.table(found.entries, columns, 'Nothing is scheduled.');
    if (found.nextFrom !== undefined)
      await output.line(`There are more events: continue with --from ${found.nextFrom}`);
  });
}
