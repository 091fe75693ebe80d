/** When environments are deployed, destroyed and checked for drift automatically. */
import { type Static, Type } from 'typebox';
import { aboutOne } from '../schema/by-id.ts';
import { clearable } from '../schema/empty-fields.ts';
import { autoDriftRemediations, forgeRemediations, oneOf } from '../schema/enumerations.ts';
import { noEffects, withoutEffectOf } from '../schema/no-effect.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { closed, Flag, orNull } from '../schema/schema.ts';
import { Cron, DriftSchedule, EnvironmentSchedule, TimeZone } from './shapes.ts';

const thisEnvironment = aboutOne('environment');

const ScheduleBody = closed({
  cron: Type.Optional(Cron),
  timeZone: Type.Optional(TimeZone),
  enabled: Type.Optional(Type.Boolean({ description: 'Default: true if there is a cron expression' })),
});

export const UpdateEnvironmentScheduleBody = closed({
  deploy: orNull(ScheduleBody),
  destroy: orNull(ScheduleBody),
});
export type UpdateEnvironmentScheduleBody = Static<typeof UpdateEnvironmentScheduleBody>;

export const UpdateDriftScheduleBody = closed({
  enabled: Flag,
  cron: orNull(Cron),
  timeZone: Type.Optional(clearable(TimeZone, 'UTC')),
  autoDriftRemediation: Type.Optional(
    clearable(
      withoutEffectOf(
        oneOf(
          autoDriftRemediations,
          'What follows a drift run that finds drift: CODE_TO_CLOUD starts a deploy, DISABLED nothing',
        ),
        forgeRemediations,
        noEffects.driftPullRequests,
      ),
      'DISABLED',
    ),
  ),
});
export type UpdateDriftScheduleBody = Static<typeof UpdateDriftScheduleBody>;

export const operations = defineOperations('schedules', {
  getEnvironmentSchedule: operation('GET', '/scheduling/environments/{id}', {
    summary: 'Get schedule of environment',
    description: 'An empty object if there is none.',
    needs: 'VIEW_ENVIRONMENT',
    ...thisEnvironment,
    reply: EnvironmentSchedule,
  }),
  updateEnvironmentSchedule: operation('PUT', '/scheduling/environments/{id}', {
    summary: 'Replace schedule of environment',
    description:
      'Omitted schedules are removed; an empty object removes both. Enabling a schedule turns the TTL of ' +
      'the environment off. Ticks count once a deployment of the environment has succeeded; missed ' +
      'ticks (locked, archived, service down) are skipped. A time that the clock skips comes when it has ' +
      'been moved on; one that it shows twice comes once.',
    needs: 'RUN_APPLY',
    ...thisEnvironment,
    body: UpdateEnvironmentScheduleBody,
    bodyOptional: true,
    reply: EnvironmentSchedule,
  }),
  listProjectSchedules: operation('GET', '/scheduling/projects/{id}', {
    summary: 'List schedules of project',
    description: 'One element for each environment of the project with a schedule, newest environment first.',
    needs: 'VIEW_ENVIRONMENT',
    ...aboutOne('project'),
    reply: Type.Array(EnvironmentSchedule),
  }),
  getDriftSchedule: operation('GET', '/scheduling/drift-detection/environments/{id}', {
    summary: 'Get drift schedule of environment',
    description: '`enabled: false` and an empty cron if there is none.',
    needs: 'VIEW_ENVIRONMENT',
    ...thisEnvironment,
    reply: DriftSchedule,
  }),
  updateDriftSchedule: operation('PATCH', '/scheduling/drift-detection/environments/{id}', {
    summary: 'Update drift schedule of environment',
    description:
      'Enables or disables drift runs; omitted fields are unchanged. Drift runs are started only ' +
      'while the environment is active, at least an hour apart, and up to an hour later than the cron ' +
      'expression says: always the same for one environment, different between environments. Of several times ' +
      'that it names in an hour, the first counts.',
    needs: 'EDIT_ENVIRONMENT_SETTINGS',
    needsToo: [{ right: 'RUN_APPLY', for: '`autoDriftRemediation` CODE_TO_CLOUD' }],
    ...thisEnvironment,
    body: UpdateDriftScheduleBody,
    reply: DriftSchedule,
  }),
});
