/** The tabs of the page: each is loaded when it is opened first, and says what a terminal would do. */
import { type ComponentType, lazy } from 'react';
import { callOf, type ShownCall } from '../../ui/calls.ts';
import type { EnvironmentProps, EnvironmentReply } from './facts/reads.ts';

export interface TabFacts {
  readonly id: string;
  readonly label: string;
  readonly Component: ComponentType<EnvironmentProps>;
}

const tab = (
  id: string,
  label: string,
  load: () => Promise<{ default: ComponentType<EnvironmentProps> }>,
): TabFacts => ({
  id,
  label,
  Component: lazy(load),
});

export const tabs: readonly TabFacts[] = [
  tab('overview', 'Overview', () => import('./tabs/OverviewTab.tsx')),
  tab('deployments', 'Deployments', () => import('./tabs/DeploymentsTab.tsx')),
  tab('resources', 'Resources', () => import('./tabs/ResourcesTab.tsx')),
  tab('outputs', 'Outputs', () => import('./tabs/OutputsTab.tsx')),
  tab('variables', 'Variables', () => import('./tabs/VariablesTab.tsx')),
  tab('drift', 'Drift', () => import('./tabs/DriftTab.tsx')),
  tab('state', 'State', () => import('./tabs/StateTab.tsx')),
  tab('schedule', 'Schedule', () => import('./tabs/ScheduleTab.tsx')),
  tab('settings', 'Settings', () => import('./tabs/SettingsTab.tsx')),
];

type CallsOf = (environment: EnvironmentReply) => readonly ShownCall[];

const callsByTab: Readonly<Record<string, CallsOf>> = {
  overview: () => [],
  deployments: ({ id }) => [
    callOf('Deployments', 'listDeployments', { params: { id }, query: { limit: 20 } }, [
      'deployments',
      'list',
      id,
    ]),
  ],
  resources: ({ id, latestDeploymentLogId }) => [
    callOf('Resources', 'listDeploymentResources', { params: { id: latestDeploymentLogId ?? '' } }, [
      ...['resources', '--environment', id],
    ]),
  ],
  outputs: ({ id, latestDeploymentLogId }) => [
    callOf(
      'Outputs',
      'getDeployment',
      { params: { id: latestDeploymentLogId ?? '' }, query: { fields: 'output' } },
      ['outputs', '--environment', id],
    ),
  ],
  variables: ({ id, organizationId }) => [
    callOf('Variables', 'listVariables', { query: { organizationId, environmentId: id } }, [
      ...['variables', 'list', '--environment', id],
    ]),
  ],
  drift: ({ id }) => [
    callOf(
      'Check for drift',
      'deployEnvironment',
      { params: { id }, body: { deploymentType: 'driftDetection' } },
      ['drift', id],
    ),
    callOf('Schedule of checks', 'getDriftSchedule', { params: { id } }, [
      'environment',
      'drift-schedule',
      id,
    ]),
  ],
  state: ({ id }) => [
    callOf('State versions', 'listStateVersions', { params: { id } }, ['state', 'list', id]),
    callOf('Lock of the state', 'getStateLock', { params: { id } }, ['environment', 'locks', id]),
  ],
  schedule: ({ id }) => [
    callOf('Schedule', 'getEnvironmentSchedule', { params: { id } }, ['environment', 'schedule', id]),
    callOf(
      'Lifetime of 12 hours',
      'updateEnvironmentTtl',
      { params: { id }, body: { type: 'HOURS', value: '12' } },
      [...['environment', 'ttl', id, '12h']],
    ),
  ],
  settings: ({ id, name }) => [
    callOf('Rename', 'updateEnvironment', { params: { id }, body: { name } }, [
      ...['environment', 'update', id, '--name', name],
    ]),
  ],
};

/** Calls of the page on a tab, for a terminal. */
export function callsOf(id: string, environment: EnvironmentReply): readonly ShownCall[] {
  const about = { params: { id: environment.id } };
  return [
    callOf('This environment', 'getEnvironment', about, ['environment', 'show', environment.id]),
    callOf('Deploy it', 'deployEnvironment', { ...about, body: {} }, ['deploy', environment.id, '--follow']),
    ...(callsByTab[id]?.(environment) ?? []),
  ];
}
