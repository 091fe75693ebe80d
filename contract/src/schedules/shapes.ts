/** Shapes of replies about schedules. */
import { type Static, Type } from 'typebox';
import { autoDriftRemediations, oneOf } from '../schema/enumerations.ts';
import { Flag, Instant, replyObject, Text } from '../schema/schema.ts';

const cronDescription =
  'Five fields (minute, hour, day of month, month, day of week), by the clock of `timeZone`';

export const Cron = Type.String({ maxLength: 255, description: cronDescription });

export const TimeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'A name of the IANA database, such as Europe/Berlin; UTC where none was sent',
});

const scheduleFields = {
  id: Text,
  cron: Cron,
  timeZone: TimeZone,
  enabled: Flag,
  createdAt: Instant,
  updatedAt: Instant,
  createdBy: Text,
  environmentId: Text,
  projectId: Text,
  organizationId: Text,
  nextSchedule: Type.Optional(Instant),
};

export const Schedule = replyObject('Schedule', scheduleFields);
export type Schedule = Static<typeof Schedule>;

/** Both of an environment; one that was never set, or was cleared, is absent. */
export const EnvironmentSchedule = replyObject('EnvironmentSchedule', {
  deploy: Type.Optional(Schedule),
  destroy: Type.Optional(Schedule),
});
export type EnvironmentSchedule = Static<typeof EnvironmentSchedule>;

export const DriftSchedule = replyObject('DriftSchedule', {
  cron: Type.String({ description: `${cronDescription}; empty where none was ever set` }),
  timeZone: Type.Optional(TimeZone),
  enabled: Flag,
  autoDriftRemediation: Type.Optional(oneOf(autoDriftRemediations)),
  id: Type.Optional(Text),
  createdAt: Type.Optional(Instant),
  updatedAt: Type.Optional(Instant),
  createdBy: Type.Optional(Text),
  environmentId: Text,
  projectId: Text,
  organizationId: Text,
  nextSchedule: Type.Optional(Instant),
});
export type DriftSchedule = Static<typeof DriftSchedule>;
