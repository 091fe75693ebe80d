/** Every page with its address; each is loaded when it is opened first. */
import { createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { basePath } from './api/client.ts';
import { queryClient } from './api/queries.ts';
import { currentUser } from './api/session.ts';
import { loadPart } from './shell/load-part.ts';
import { NotFound } from './shell/NotFound.tsx';
import type { PagePlace } from './shell/navigation.ts';
import { Pending } from './shell/Pending.tsx';
import { RouteError } from './shell/RouteError.tsx';
import { rootRoute } from './shell/root-route.tsx';
import { Shell } from './shell/Shell.tsx';
import { searchOf, textOfSearch } from './ui/search.ts';

/** Pages for people who are signed in; others sign in first and come back. */
const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location }) => {
    const me = await queryClient.ensureQueryData(currentUser);
    if (me === null) throw redirect({ to: '/sign-in', search: { back: location.href } });
  },
});

type PageModule = Readonly<Record<string, unknown>>;

/** A page for people who are signed in. @param place where the navigation shows it; default: nowhere */
const page = <Path extends string, M extends PageModule>(
  path: Path,
  load: () => Promise<M>,
  name: keyof M & string,
  place?: PagePlace,
) =>
  createRoute({
    getParentRoute: () => shellRoute,
    path,
    component: lazyRouteComponent(loadPart(load), name),
    staticData: { place },
  });

const openPage = <Path extends string, M extends PageModule>(
  path: Path,
  load: () => Promise<M>,
  name: keyof M & string,
) =>
  createRoute({ getParentRoute: () => rootRoute, path, component: lazyRouteComponent(loadPart(load), name) });

const routeTree = rootRoute.addChildren([
  shellRoute.addChildren([
    page('/', () => import('./pages/home/HomePage.tsx'), 'HomePage', {
      group: 'Work',
      name: 'Inbox',
      key: 'h',
    }),
    page('/environments', () => import('./pages/environments/EnvironmentsPage.tsx'), 'EnvironmentsPage', {
      group: 'Work',
      name: 'Environments',
      key: 'e',
    }),
    page(
      '/environments/new',
      () => import('./pages/environments/NewEnvironmentPage.tsx'),
      'NewEnvironmentPage',
    ),
    page(
      '/environments/$environmentId',
      () => import('./pages/environment/EnvironmentPage.tsx'),
      'EnvironmentPage',
    ),
    page(
      '/deployments/$deploymentId',
      () => import('./pages/deployment/DeploymentPage.tsx'),
      'DeploymentPage',
    ),
    page('/projects', () => import('./pages/projects/ProjectsPage.tsx'), 'ProjectsPage', {
      group: 'Work',
      name: 'Projects',
      key: 'p',
    }),
    page('/projects/$projectId', () => import('./pages/projects/ProjectPage.tsx'), 'ProjectPage'),
    page('/templates', () => import('./pages/templates/TemplatesPage.tsx'), 'TemplatesPage', {
      group: 'Sources',
      name: 'Templates',
      key: 't',
    }),
    page('/templates/new', () => import('./pages/templates/NewTemplatePage.tsx'), 'NewTemplatePage'),
    page('/templates/$templateId', () => import('./pages/templates/TemplatePage.tsx'), 'TemplatePage'),
    page('/variables', () => import('./pages/variables/VariablesPage.tsx'), 'VariablesPage', {
      group: 'Sources',
      name: 'Variables',
      key: 'v',
    }),
    page(
      '/configuration-sets',
      () => import('./pages/configuration-sets/ConfigurationSetsPage.tsx'),
      'ConfigurationSetsPage',
      { group: 'Sources', name: 'Configuration sets', key: 's' },
    ),
    page(
      '/configuration-sets/$setId',
      () => import('./pages/configuration-sets/ConfigurationSetPage.tsx'),
      'ConfigurationSetPage',
    ),
    page(
      '/approval-policies',
      () => import('./pages/approval-policies/ApprovalPoliciesPage.tsx'),
      'ApprovalPoliciesPage',
      { group: 'Sources', name: 'Approval policies', key: 'y' },
    ),
    page(
      '/approval-policies/new',
      () => import('./pages/approval-policies/NewApprovalPolicyPage.tsx'),
      'NewApprovalPolicyPage',
    ),
    page(
      '/approval-policies/$policyId',
      () => import('./pages/approval-policies/ApprovalPolicyPage.tsx'),
      'ApprovalPolicyPage',
    ),
    page('/credentials', () => import('./pages/credentials/CredentialsPage.tsx'), 'CredentialsPage', {
      group: 'Access',
      name: 'Cloud credentials',
      key: 'd',
    }),
    page('/git-tokens', () => import('./pages/credentials/GitTokensPage.tsx'), 'GitTokensPage', {
      group: 'Access',
      name: 'Git tokens',
    }),
    page('/ssh-keys', () => import('./pages/credentials/SshKeysPage.tsx'), 'SshKeysPage', {
      group: 'Access',
      name: 'SSH keys',
    }),
    page(
      '/vcs-connections',
      () => import('./pages/credentials/VcsConnectionsPage.tsx'),
      'VcsConnectionsPage',
      { group: 'Access', name: 'Forges' },
    ),
    page('/agents', () => import('./pages/agents/AgentsPage.tsx'), 'AgentsPage', {
      group: 'Operation',
      name: 'Agents',
      key: 'a',
    }),
    page('/users', () => import('./pages/people/UsersPage.tsx'), 'UsersPage', {
      group: 'Access',
      name: 'Users',
      key: 'u',
    }),
    page('/teams', () => import('./pages/people/TeamsPage.tsx'), 'TeamsPage', {
      group: 'Access',
      name: 'Teams',
    }),
    page('/roles', () => import('./pages/people/RolesPage.tsx'), 'RolesPage', {
      group: 'Access',
      name: 'Roles',
    }),
    page('/permissions', () => import('./pages/people/PermissionsPage.tsx'), 'PermissionsPage', {
      group: 'Access',
      name: 'Permissions',
    }),
    page('/api-keys', () => import('./pages/keys/ApiKeysPage.tsx'), 'ApiKeysPage', {
      group: 'Access',
      name: 'API keys',
    }),
    page('/notifications', () => import('./pages/notifications/NotificationsPage.tsx'), 'NotificationsPage', {
      group: 'Operation',
      name: 'Notifications',
      key: 'n',
    }),
    page('/calendar', () => import('./pages/calendar/CalendarPage.tsx'), 'CalendarPage', {
      group: 'Work',
      name: 'Calendar',
      key: 'c',
    }),
    page('/audit', () => import('./pages/audit/AuditPage.tsx'), 'AuditPage', {
      group: 'Operation',
      name: 'Audit trail',
      key: 'l',
    }),
    page('/organization', () => import('./pages/organization/OrganizationPage.tsx'), 'OrganizationPage', {
      group: 'Operation',
      name: 'Organization',
    }),
    page('/profile', () => import('./pages/profile/ProfilePage.tsx'), 'ProfilePage'),
  ]),
  openPage('/sign-in', () => import('./pages/sign-in/SignInPage.tsx'), 'SignInPage'),
  openPage('/first-start', () => import('./pages/sign-in/FirstStartPage.tsx'), 'FirstStartPage'),
  openPage('/invitation', () => import('./pages/sign-in/InvitationPage.tsx'), 'InvitationPage'),
  openPage('/command-line', () => import('./pages/sign-in/CommandLinePage.tsx'), 'CommandLinePage'),
  openPage('/password', () => import('./pages/sign-in/PasswordPage.tsx'), 'PasswordPage'),
]);

export const router = createRouter({
  routeTree,
  basepath: basePath,
  defaultPreload: 'intent',
  parseSearch: searchOf,
  stringifySearch: textOfSearch,
  scrollRestoration: true,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: RouteError,
  defaultPendingComponent: Pending,
  defaultPendingMs: 300,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
