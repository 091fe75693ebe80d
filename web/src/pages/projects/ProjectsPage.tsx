/** The tree of projects. */
import { Button, Checkbox, Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { useProjects } from '../../forms/ProjectSelect.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { useSearchState } from '../../ui/search.ts';
import { ProjectDialog } from './ProjectDialog.tsx';
import { ProjectTree } from './ProjectTree.tsx';
import { shownTree } from './shown-tree.ts';

function NoProjects({ organizationId }: { readonly organizationId: string }) {
  return (
    <EmptyState
      title="No projects that you can see"
      call={callOf('Create a project', 'createProject', { body: { organizationId, name: 'Shop' } }, [
        ...['project', 'create', 'Shop'],
      ])}
    >
      Projects are folders of environments, with their own rights, variables and policy.
    </EmptyState>
  );
}

export function ProjectsPage() {
  const { organizationId } = useSession();
  const navigate = useNavigate();
  const [{ q = '', archived }, change] = useSearchState();
  const [isCreating, setIsCreating] = useState(false);
  const rights = useRights({ organizationId });
  const { query, projects } = useProjects(archived === 'yes');
  return (
    <Page
      title="Projects"
      lead="Folders of environments, each with rights, variables and a policy that hold for everything below."
      actions={
        <ActionButton size="xs" whyNot={rights.whyNot('CREATE_PROJECT')} onClick={() => setIsCreating(true)}>
          New project
        </ActionButton>
      }
      calls={[callOf('List projects', 'listProjects', { query: { organizationId } }, ['project', 'list'])]}
    >
      <Group gap="lg" mb="md" role="search">
        <SearchBox label="Find a project" value={q} onSearch={(text) => change({ q: text })} />
        <Checkbox
          label="Include archived"
          checked={archived === 'yes'}
          onChange={(event) => change({ archived: event.currentTarget.checked ? 'yes' : undefined })}
        />
      </Group>
      <Loaded query={query}>
        {() => {
          if (projects.length === 0) return <NoProjects organizationId={organizationId} />;
          const tree = shownTree(projects, q);
          if (tree.length > 0) return <ProjectTree nodes={tree} isFiltered={q !== ''} />;
          return (
            <EmptyState
              title="No matching projects"
              action={
                <Button variant="default" onClick={() => change({ q: undefined })}>
                  Show all
                </Button>
              }
            />
          );
        }}
      </Loaded>
      {isCreating && (
        <ProjectDialog
          onClose={() => setIsCreating(false)}
          onSaved={(id) => void navigate({ to: '/projects/$projectId', params: { projectId: id } })}
        />
      )}
    </Page>
  );
}
