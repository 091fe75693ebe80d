/** Figures for dashboards. */
import { Type } from 'typebox';
import { inOrganization } from '../schema/by-id.ts';
import { oneOf } from '../schema/enumerations.ts';
import { defineOperations, operation } from '../schema/operation.ts';
import { Name } from '../schema/schema.ts';
import { DashboardRow, dashboardDays, dashboardQueryNames, mostDashboardEnvironments } from './shapes.ts';

export const operations = defineOperations('dashboards', {
  getDashboard: operation('GET', '/dashboards', {
    summary: 'Get figures of a dashboard',
    description:
      `Figures of an organization, of the environments that the caller may view. Deployments are those that finished in ` +
      `the last ${dashboardDays} days, days are those of UTC, environments are those that are not archived. ` +
      'Names with `OverTime`: one row per day, oldest first. `deploymentsByType`, `deploymentsByUser` and ' +
      '`environmentsByStatus`: the largest number first. `totalDeployments`, `failedDeployments`, ' +
      '`totalEnvironments`, `activeEnvironments`: a single row with `value`. `recentEnvironments`: the ' +
      `${mostDashboardEnvironments} that changed last.`,
    needs: 'VIEW_DASHBOARD',
    needsToo: [{ right: 'VIEW_ENVIRONMENT', for: 'each environment that is counted' }],
    subject: inOrganization.subject,
    query: Type.Object({ organizationId: Name, queryName: oneOf(dashboardQueryNames, 'The figure') }),
    reply: Type.Array(DashboardRow),
  }),
});
