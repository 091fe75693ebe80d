/** Scheduled events of environments: schedules, drift runs, and ends of lifetimes. */
import { Type } from 'typebox';
import { defineOperations, operation } from '../schema/operation.ts';
import { Text } from '../schema/schema.ts';
import { Calendar } from './shapes.ts';

const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));

export const longestCalendarDays = 92;

export const operations = defineOperations('calendar', {
  getCalendar: operation('GET', '/calendar', {
    summary: 'Get calendar',
    description:
      'What is going to happen to the environments that the caller may see: runs of schedules, drift runs, ends of ' +
      'lifetimes with the notices before them, and attempts to destroy again. In the order of time, as things are ' +
      'now. Archived environments are left out. `from` is included, `to` is not.',
    needs: 'signed-in',
    query: Type.Object({
      organizationId: Type.Optional(Text),
      projectId: Type.Optional(Text),
      from: time('Default: now'),
      to: time(`Default: seven days after \`from\`; at most ${longestCalendarDays} days after it`),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          description: 'Default 500; everything that comes at the moment of the last entry is added',
        }),
      ),
    }),
    reply: Calendar,
  }),
});
