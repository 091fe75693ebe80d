/** One project: its environments, what is below it, and what holds in it. */
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { Project } from '#contract/projects/shapes.ts';
import { type Refetch, type Tagged, useTagged } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { isWithin, treeOf, wayTo } from '../../forms/project-tree.ts';
import records from '../../records/records.module.css';
import { UrlTabs } from '../../records/UrlTabs.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import { discoveryCalls } from './discovery/discovery-calls.ts';
import { EnvironmentsTable } from './EnvironmentsTable.tsx';
import { ProjectActions } from './ProjectActions.tsx';
import { ProjectDialog } from './ProjectDialog.tsx';
import { ProjectTree } from './ProjectTree.tsx';
import classes from './projects.module.css';

/** The projects below one. */
function ProjectsBelow({ project: { id } }: { readonly project: Project }) {
  const { organizationId } = useSession();
  const { query, projects } = useProjects(true);
  const below = projects.filter((each) => each.id !== id && isWithin(each, id));
  return (
    <Loaded query={query}>
      {() =>
        below.length > 0 ? (
          <ProjectTree nodes={treeOf(below)} isFiltered={false} />
        ) : (
          <EmptyState
            title="No projects below this one"
            call={callOf(
              'Create a project below',
              'createProject',
              { body: { organizationId, name: 'Team', parentProjectId: id } },
              ['project', 'create', 'Team', '--parent', id],
            )}
          >
            What holds here, holds there too: variables, sets, credentials and roles.
          </EmptyState>
        )
      }
    </Loaded>
  );
}

/** The environments of a project, those of projects below it apart. */
function ProjectEnvironments({ project: { id } }: { readonly project: Project }) {
  const { organizationId } = useSession();
  const repository = 'https://git.example.com/network.git';
  return (
    <EnvironmentsTable
      label="Environments of this project"
      query={{ organizationId, projectId: id }}
      empty={
        <EmptyState
          title="No environments here yet"
          action={
            <Link to="/environments/new" search={{ project: id }}>
              Create one
            </Link>
          }
          call={callOf(
            'Create an environment',
            'createEnvironmentWithoutTemplate',
            { body: { organizationId, projectId: id, name: 'staging', type: 'terraform', repository } },
            ['environment', 'create', 'staging', '--project', id, '--repository', repository],
          )}
        />
      }
    />
  );
}

const PolicyTab = lazy(() => import('./PolicyTab.tsx'));
const DiscoveryTab = lazy(() => import('./discovery/DiscoveryTab.tsx'));
const CredentialsTab = lazy(() => import('./CredentialsTab.tsx'));
const NotificationsTab = lazy(() => import('./NotificationsTab.tsx'));
const RolesTab = lazy(() => import('./RolesTab.tsx'));
const SchedulesTab = lazy(() => import('./SchedulesTab.tsx'));
const VariablesTab = lazy(() => import('./VariablesTab.tsx'));

const tabs = [
  ['environments', 'Environments', ProjectEnvironments],
  ['below', 'Projects below', ProjectsBelow],
  ['discovery', 'Discovery', DiscoveryTab],
  ['variables', 'Variables', VariablesTab],
  ['policy', 'Policy', PolicyTab],
  ['credentials', 'Credentials', CredentialsTab],
  ['roles', 'Roles', RolesTab],
  ['notifications', 'Notifications', NotificationsTab],
  ['schedules', 'Schedules', SchedulesTab],
] as const;

function ProjectTabs({ project }: { readonly project: Project }) {
  const shown = tabs.map(([value, label, Tab]) => {
    const content = () => (
      <Suspense>
        <Tab project={project} />
      </Suspense>
    );
    return { value, label, content };
  });
  return <UrlTabs isStep tabs={shown} />;
}

interface ProjectViewProps {
  readonly read: Tagged<Project>;
  readonly refetch: Refetch;
}

function Shown({ read, refetch }: ProjectViewProps) {
  const project = read.data;
  const { id, name, description, isArchived, tags } = project;
  const navigate = useNavigate();
  const { projects } = useProjects(true);
  const rights = useRights({ projectId: id });
  const [isCreating, setIsCreating] = useState(false);
  const [{ tab }] = useSearchState();
  const archived = isArchived ? 'The project is archived: restore it first.' : undefined;
  const above = wayTo(projects, id).filter((each) => each.id !== id);
  const show = (projectId: string) => void navigate({ to: '/projects/$projectId', params: { projectId } });
  return (
    <Page
      title={name}
      aside={isArchived && <span className={classes.mark}>archived</span>}
      lead={
        <>
          {description}
          {tags.length > 0 && <div className={records.faint}>{tags.join(', ')}</div>}
        </>
      }
      crumbs={[
        { label: 'Projects', to: '/projects' },
        ...above.map((each) => ({ label: each.name, to: `/projects/${each.id}` })),
      ]}
      actions={
        <>
          <ActionButton
            size="xs"
            whyNot={archived ?? rights.whyNot('RUN_PLAN')}
            onClick={() => void navigate({ to: '/environments/new', search: { project: id } })}
          >
            New environment
          </ActionButton>
          <ActionButton
            size="xs"
            variant="default"
            whyNot={archived ?? rights.whyNot('CREATE_PROJECT')}
            onClick={() => setIsCreating(true)}
          >
            New project below
          </ActionButton>
          <ProjectActions read={read} refetch={refetch} rights={rights} />
        </>
      }
      calls={[
        callOf('Show this project', 'getProject', { params: { id } }, ['project', 'show', id]),
        callOf('Archive it', 'deleteProject', { params: { id } }, ['project', 'archive', id]),
        ...(tab === 'discovery' ? discoveryCalls(id) : []),
      ]}
    >
      <ProjectTabs project={project} />
      {isCreating && <ProjectDialog parentId={id} onClose={() => setIsCreating(false)} onSaved={show} />}
    </Page>
  );
}

export function ProjectPage() {
  const { projectId = '' } = useParams({ strict: false });
  const project = useTagged('getProject', { params: { id: projectId } });
  if (project.data) return <Shown key={projectId} read={project.data} refetch={project.refetch} />;
  return (
    <Page title="Project" crumbs={[{ label: 'Projects', to: '/projects' }]} calls={[]}>
      <Loaded query={project}>{() => null}</Loaded>
    </Page>
  );
}
