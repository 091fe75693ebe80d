/** Environment discovery of a project: its form, or what it has found. */
import type { Discovery } from '#contract/discovery/shapes.ts';
import type { Project } from '#contract/projects/shapes.ts';
import { isStatus } from '../../../api/errors.ts';
import { useTagged } from '../../../api/queries.ts';
import { useRights } from '../../../api/rights.ts';
import { ActionButton } from '../../../ui/ActionButton.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Loaded } from '../../../ui/Loaded.tsx';
import { useSearchState } from '../../../ui/search.ts';
import { DiscoveryForm } from './DiscoveryForm.tsx';
import { DiscoveryView } from './DiscoveryView.tsx';
import { firstCall } from './discovery-calls.ts';
import { discoveryValues, emptyDiscovery } from './discovery-values.ts';

function NoDiscovery({ project, onSetUp }: { readonly project: Project; readonly onSetUp: () => void }) {
  const rights = useRights({ projectId: project.id });
  const archived = project.isArchived ? 'The project is archived: restore it first.' : undefined;
  return (
    <EmptyState
      title="No environment discovery here yet"
      action={
        <ActionButton
          whyNot={
            archived ?? rights.whyNot('EDIT_PROJECT_SETTINGS') ?? rights.whyNot('CREATE_VCS_ENVIRONMENT')
          }
          onClick={onSetUp}
        >
          Set up discovery
        </ActionButton>
      }
      call={firstCall(project.id)}
    >
      Each folder of a repository that a glob matches becomes an environment, now and when folders are added.
      A preview shows what would be created before you save.
    </EmptyState>
  );
}

const valuesOf = (discovery: Discovery | undefined) =>
  discovery === undefined ? emptyDiscovery : discoveryValues(discovery);

export default function DiscoveryTab({ project }: { readonly project: Project }) {
  const query = useTagged('getDiscovery', { params: { projectId: project.id } });
  const [{ edit }, setSearch] = useSearchState();
  const isEditing = edit !== undefined;
  const setEditing = (isOpen: boolean) => setSearch({ edit: isOpen ? '' : undefined }, isOpen);
  const isMissing = query.isError && isStatus(query.error, 404);
  const form = { project, refetch: query.refetch, valuesOf, onDone: () => setEditing(false) };
  if (isMissing)
    return isEditing ? (
      <DiscoveryForm {...form} read={{ data: undefined, etag: undefined }} />
    ) : (
      <NoDiscovery project={project} onSetUp={() => setEditing(true)} />
    );
  return (
    <Loaded query={query} lines={10}>
      {(read) =>
        isEditing ? (
          <DiscoveryForm {...form} read={read} />
        ) : (
          <DiscoveryView project={project} discovery={read.data} onEdit={() => setEditing(true)} />
        )
      }
    </Loaded>
  );
}
