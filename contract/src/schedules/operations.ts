/** When environments are deployed, destroyed and looked at by themselves. */
import { type Static, Type } from 'typebox';
import { autoDriftRemediations, oneOf } from '../schema/enumerations.ts';
import { operation } from '../operation.ts';
import { closed, Flag, Instant, Name, orNull, replyObject, Text } from '../schema/schema.ts';

const family = 'schedules';
const byId = Type.Object({ id: Name });
const thisEnvironment = { entity: 'environment', in: 'params', field: 'id' } as const;

const cronDescription = 'Five fields (minute, hour, day of month, month, day of week), in UTC';
const Cron = Type.String({ maxLength: 255, description: cronDescription });

const scheduleFields = {
  id: Text,
  cron: Cron,
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

const ScheduleBody = closed({
  cron: Type.Optional(Cron),
  enabled: Type.Optional(Type.Boolean({ description: 'Default true where there is a cron' })),
});

export const UpdateEnvironmentScheduleBody = closed({
  deploy: orNull(ScheduleBody),
  destroy: orNull(ScheduleBody),
});
export type UpdateEnvironmentScheduleBody = Static<typeof UpdateEnvironmentScheduleBody>;

export const getEnvironmentSchedule = operation('getEnvironmentSchedule', {
  family,
  summary: 'Get schedule of environment',
  description: 'An empty object where there is none.',
  needs: 'VIEW_ENVIRONMENT',
  subject: thisEnvironment,
  params: byId,
  reply: EnvironmentSchedule,
});

export const updateEnvironmentSchedule = operation('updateEnvironmentSchedule', {
  family,
  summary: 'Replace schedule of environment',
  description:
    'What is absent is cleared; an empty object clears both. Enabling one needs an environment that was deployed once and turns its TTL off. A tick that was missed (locked, archived, service down) is not made up.',
  needs: 'RUN_APPLY',
  subject: thisEnvironment,
  params: byId,
  body: UpdateEnvironmentScheduleBody,
  bodyOptional: true,
  reply: EnvironmentSchedule,
});

export const listProjectSchedules = operation('listProjectSchedules', {
  family,
  summary: 'List schedules of project',
  description:
    'One element for each environment of the project that has a schedule, newest environment first.',
  needs: 'VIEW_ENVIRONMENT',
  subject: { entity: 'project', in: 'params', field: 'id' },
  params: byId,
  reply: Type.Array(EnvironmentSchedule),
});

export const DriftSchedule = replyObject('DriftSchedule', {
  cron: Type.String({ description: `${cronDescription}; empty where none was ever set` }),
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

export const UpdateDriftScheduleBody = closed({
  enabled: Flag,
  cron: Type.Optional(Cron),
  autoDriftRemediation: Type.Optional(oneOf(autoDriftRemediations)),
});
export type UpdateDriftScheduleBody = Static<typeof UpdateDriftScheduleBody>;

export const getDriftSchedule = operation('getDriftSchedule', {
  family,
  summary: 'Get drift schedule of environment',
  description: '`enabled: false` and an empty cron where there is none.',
  needs: 'VIEW_ENVIRONMENT',
  subject: thisEnvironment,
  params: byId,
  reply: DriftSchedule,
});

export const updateDriftSchedule = operation('updateDriftSchedule', {
  family,
  summary: 'Update drift schedule of environment',
  description:
    'Switches drift runs on or off; what is not sent stays. A run is made only while the environment is active.',
  needs: 'EDIT_ENVIRONMENT_SETTINGS',
  subject: thisEnvironment,
  params: byId,
  body: UpdateDriftScheduleBody,
  reply: DriftSchedule,
});
