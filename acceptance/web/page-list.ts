/** The pages of the web interface, for what looks at all of them. */
import type { Showcase } from './showcase.ts';

/** Path of each page below the address of the service, by a name for it. */
export function pagesOf(shown: Showcase) {
  const { environments, waitingDeployment, failedDeployment, projectId, policyId, discoveryProjectId } =
    shown;
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
    calendar: '/calendar',
    projects: '/projects',
    project: `/projects/${projectId}`,
    templates: '/templates',
    'new template': '/templates/new',
    'approval policies': '/approval-policies',
    'catalogue of policies': '/approval-policies?tab=catalogue',
    'new approval policy': '/approval-policies/new?catalogue=monthly-cost-estimation',
    'an approval policy': `/approval-policies/${policyId}`,
    'test of an approval policy': `/approval-policies/${policyId}?tab=test`,
    'places of an approval policy': `/approval-policies/${policyId}?tab=places`,
    'settings of an approval policy': `/approval-policies/${policyId}?tab=settings`,
    'change of an approval policy': `/approval-policies/${policyId}?edit=`,
    variables: '/variables',
    'configuration sets': '/configuration-sets',
    credentials: '/credentials',
    'git tokens': '/git-tokens',
    'ssh keys': '/ssh-keys',
    forges: '/vcs-connections',
    users: '/users',
    invitations: '/users?tab=invitations',
    teams: '/teams',
    roles: '/roles',
    'a role': '/roles?open=project.Deployer',
    permissions: '/permissions',
    'permissions in a project': `/permissions?tab=matrix&project=${projectId}`,
    assignments: '/permissions?tab=assignments',
    'API keys': '/api-keys',
    'SCIM tokens': '/api-keys?tab=scim',
    agents: '/agents',
    'an agent': '/agents?open=ENVARIUM_DEFAULT',
    notifications: '/notifications',
    deliveries: '/notifications?tab=deliveries',
    'policy of a project': `/projects/${projectId}?tab=policy`,
    'discovery of a project': `/projects/${discoveryProjectId}?tab=discovery`,
    'settings of discovery': `/projects/${discoveryProjectId}?tab=discovery&edit=`,
    'notifications of a project': `/projects/${projectId}?tab=notifications`,
    audit: '/audit',
    organization: '/organization',
    policies: '/organization?tab=policies',
    profile: '/profile',
    sessions: '/profile?tab=sessions',
    'own keys': '/profile?tab=keys',
  } as const satisfies Readonly<Record<string, string>>;
}
