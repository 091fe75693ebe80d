/** When environments are deployed, destroyed and looked at by themselves. */
import { type Static, Type } from 'typebox';
import { autoDriftRemediations, oneOf } from '../schema/enumerations.ts';
import { defineOperations, operation } from '../operation.ts';
import { closed, Flag, Name, orNull } from '../schema/schema.ts';
import { Cron, DriftSchedule, EnvironmentSchedule } from './shapes.ts';

const byId = Type.Object({ id: Name });
const thisEnvironment = { entity: 'environment', in: 'params', field: 'id' } as const;

const ScheduleBody = closed({
  cron: Type.Optional(Cron),
  enabled: Type.Optional(Type.Boolean({ description: 'Default true where there is a cron' })),
});

export const UpdateEnvironmentScheduleBody = closed({
  deploy: orNull(ScheduleBody),
  destroy: orNull(ScheduleBody),
});
export type UpdateEnvironmentScheduleBody = Static<typeof UpdateEnvironmentScheduleBody>;

export const UpdateDriftScheduleBody = closed({
  enabled: Flag,
  cron: Type.Optional(Cron),
  autoDriftRemediation: Type.Optional(oneOf(autoDriftRemediations)),
});
export type UpdateDriftScheduleBody = Static<typeof UpdateDriftScheduleBody>;

export const operations = defineOperations('schedules', {
  getEnvironmentSchedule: operation('GET', '/scheduling/environments/{id}', {
    summary: 'Get schedule of environment',
    description: 'An empty object where there is none.',
    needs: 'VIEW_ENVIRONMENT',
    subject: thisEnvironment,
    params: byId,
    reply: EnvironmentSchedule,
  }),
  updateEnvironmentSchedule: operation('PUT', '/scheduling/environments/{id}', {
    summary: 'Replace schedule of environment',
    description:
      'What is absent is cleared; an empty object clears both. Enabling one needs an environment that was deployed once and turns its TTL off. A tick that was missed (locked, archived, service down) is not made up.',
    needs: 'RUN_APPLY',
    subject: thisEnvironment,
    params: byId,
    body: UpdateEnvironmentScheduleBody,
    bodyOptional: true,
    reply: EnvironmentSchedule,
  }),
  listProjectSchedules: operation('GET', '/scheduling/projects/{id}', {
    summary: 'List schedules of project',
    description:
      'One element for each environment of the project that has a schedule, newest environment first.',
    needs: 'VIEW_ENVIRONMENT',
    subject: { entity: 'project', in: 'params', field: 'id' },
    params: byId,
    reply: Type.Array(EnvironmentSchedule),
  }),
  getDriftSchedule: operation('GET', '/scheduling/drift-detection/environments/{id}', {
    summary: 'Get drift schedule of environment',
    description: '`enabled: false` and an empty cron where there is none.',
    needs: 'VIEW_ENVIRONMENT',
    subject: thisEnvironment,
    params: byId,
    reply: DriftSchedule,
  }),
  updateDriftSchedule: operation('PATCH', '/scheduling/drift-detection/environments/{id}', {
    summary: 'Update drift schedule of environment',
    description:
      'Switches drift runs on or off; what is not sent stays. A run is made only while the environment is active.',
    needs: 'EDIT_ENVIRONMENT_SETTINGS',
    subject: thisEnvironment,
    params: byId,
    body: UpdateDriftScheduleBody,
    reply: DriftSchedule,
  }),
});
