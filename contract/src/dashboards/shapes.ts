/** Figures for dashboards. */
import { type Static, Type } from 'typebox';
import {
  deploymentTypes,
  driftStatuses,
  environmentStatuses,
  oneOf,
  templateTypes,
} from '../schema/enumerations.ts';
import { Flag, Instant, replyObject, Text } from '../schema/schema.ts';
import { User } from '../users/shapes.ts';

/** Queries, each with the kind of rows that it returns. */
export const dashboardQueries = {
  deploymentsOverTime: 'DashboardDay',
  deploymentsByTypeOverTime: 'DashboardTypesOfDay',
  deploymentsByType: 'DashboardType',
  deploymentsByUser: 'DashboardUser',
  totalDeployments: 'DashboardValue',
  failedDeployments: 'DashboardValue',
  totalEnvironments: 'DashboardValue',
  activeEnvironments: 'DashboardValue',
  environmentsByStatus: 'DashboardStatus',
  recentEnvironments: 'DashboardEnvironment',
} as const;
export type DashboardQuery = keyof typeof dashboardQueries;
export const dashboardQueryNames = Object.keys(dashboardQueries) as DashboardQuery[];

/** Days that deployments are counted of, with today. */
export const dashboardDays = 30;
/** Number of environments in the list. */
export const mostDashboardEnvironments = 20;

const number = (description: string) => Type.Integer({ minimum: 0, description });
const day = Type.String({ format: 'date', description: 'A day in UTC' });
const byType = {
  deployCount: number('Deploys'),
  destroyCount: number('Destroys'),
  prPlanCount: number('Plans of pull requests'),
  moduleTestCount: number('Tests of modules'),
};

export const DashboardDay = replyObject('DashboardDay', {
  date: day,
  count: number('Deployments that finished'),
});
export const DashboardTypesOfDay = replyObject('DashboardTypesOfDay', { date: day, ...byType });
export const DashboardType = replyObject('DashboardType', {
  deploymentType: oneOf(deploymentTypes),
  count: number('Deployments that finished'),
});
export const DashboardUser = replyObject('DashboardUser', {
  user: User,
  totalDeployments: number('Deployments that finished, of every type'),
  ...byType,
});
export const DashboardValue = replyObject('DashboardValue', { value: number('The figure') });

export const dashboardStatuses = [
  'IN_PROGRESS',
  'FAILED',
  'WAITING_FOR_USER',
  'ACTIVE',
  'INACTIVE',
  'DRIFTED',
] as const;
export type DashboardStatusWord = (typeof dashboardStatuses)[number];

export const DashboardStatus = replyObject('DashboardStatus', {
  status: oneOf(dashboardStatuses),
  count: number('How many environments there are'),
});
export const DashboardEnvironment = replyObject('DashboardEnvironment', {
  id: Text,
  name: Text,
  projectId: Text,
  projectName: Type.String({ description: 'Name of its project' }),
  status: oneOf(environmentStatuses),
  driftStatus: oneOf(driftStatuses),
  isLocked: Flag,
  user: User,
  createdAt: Instant,
  lastDeploymentDate: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When the latest deployment was requested; absent: never',
    }),
  ),
  blueprintId: Text,
  blueprintName: Text,
  blueprintType: oneOf(templateTypes),
  isSingleUseBlueprint: Flag,
});

export const DashboardRow = Type.Union([
  DashboardDay,
  DashboardTypesOfDay,
  DashboardType,
  DashboardUser,
  DashboardValue,
  DashboardStatus,
  DashboardEnvironment,
]);
export type DashboardRow = Static<typeof DashboardRow>;
