/** Scheduled events of environments. */
import { type Static, Type } from 'typebox';
import { TimeZone } from '../schedules/shapes.ts';
import { environmentStatuses, oneOf } from '../schema/enumerations.ts';
import { replyObject, Text } from '../schema/schema.ts';

export const calendarKinds = ['deploy', 'destroy', 'driftDetection', 'notice', 'expiry', 'retry'] as const;
export type CalendarKind = (typeof calendarKinds)[number];

export const CalendarEntry = replyObject('CalendarEntry', {
  at: Type.String({ format: 'date-time', description: 'When it happens' }),
  kind: oneOf(
    calendarKinds,
    'What happens; `retry` is the next attempt of a destroy at the end that did not succeed',
  ),
  text: Type.String({ description: 'The same as a sentence, without the name of the environment' }),
  environmentId: Text,
  environmentName: Type.String({ description: 'Name of the environment' }),
  environmentStatus: oneOf(environmentStatuses),
  projectId: Text,
  projectName: Type.String({ description: 'Name of its project' }),
  organizationId: Text,
  cron: Type.Optional(Type.String({ description: 'Of a schedule: its expression' })),
  timeZone: Type.Optional(TimeZone),
  isRepeated: Type.Optional(
    Type.Boolean({
      description:
        'Of a schedule that comes more than three times that day (UTC): `at` is the first time, and the only entry of that day',
    }),
  ),
  held: Type.Optional(
    Type.String({
      description: 'Why it will not happen while the environment is as it is now, as a sentence',
    }),
  ),
});
export type CalendarEntry = Static<typeof CalendarEntry>;

export const Calendar = replyObject('Calendar', {
  from: Type.String({ format: 'date-time', description: 'The beginning of the calendar; included' }),
  to: Type.String({ format: 'date-time', description: 'Its end; not included' }),
  entries: Type.Array(CalendarEntry, { description: 'In the order of time' }),
  nextFrom: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Entries from this time on are left out because of `limit`: the `from` of the next call',
    }),
  ),
  isComplete: Type.Boolean({ description: 'Whether nothing is left out because of `limit`' }),
});
export type Calendar = Static<typeof Calendar>;
