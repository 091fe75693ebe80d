/** The pages of the web interface, for what looks at all of them. */
import type { Showcase } from './showcase.ts';

/** Path of each page below the address of the service, by a name for it. */
export function pagesOf({ environments, waitingDeployment, failedDeployment, projectId }: Showcase) {
  const environment = `/environments/${environments.active}`;
  const tabs = ['deployments', 'resources', 'outputs', 'variables', 'drift', 'state', 'schedule', 'settings'];
  return {
    inbox: '/',
    environments: '/environments',
    'new environment': '/environments/new',
    environment,
    ...Object.fromEntries(tabs.map((tab) => [`environment, ${tab}`, `${environment}?tab=${tab}`])),
    'deployment that waits': `/deployments/${waitingDeployment}`,
    'deployment that failed': `/deployments/${failedDeployment}`,
    log: `/deployments/${failedDeployment}?tab=log`,
    projects: '/projects',
    project: `/projects/${projectId}`,
    templates: '/templates',
    'new template': '/templates/new',
    variables: '/variables',
    'variable sets': '/configuration-sets',
    credentials: '/credentials',
    'git tokens': '/git-tokens',
    'ssh keys': '/ssh-keys',
    users: '/users',
    teams: '/teams',
    roles: '/roles',
    permissions: '/permissions',
    'API keys': '/api-keys',
    agents: '/agents',
    audit: '/audit',
    organization: '/organization',
    profile: '/profile',
  } as const satisfies Readonly<Record<string, string>>;
}
