/** Variables of the organization, a template or a project, with where they are from and what they hide. */
import { Group, SegmentedControl } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { TemplateSelect } from '../../forms/TemplateSelect.tsx';
import { callOf } from '../../ui/calls.ts';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import {
  listQueryOf,
  type PlaceKind,
  placeFlags,
  placeKinds,
  placeWords,
  type VariablesPlace,
} from './places.ts';
import { ScopeVariables } from './ScopeVariables.tsx';
import classes from './variables.module.css';
import { WhichCounts } from './WhichCounts.tsx';

/** Words that addresses use for a kind of place, those of the API among them. */
const scopes: Readonly<Record<string, PlaceKind>> = {
  organization: 'organization',
  template: 'template',
  project: 'project',
  GLOBAL: 'organization',
  BLUEPRINT: 'template',
  PROJECT: 'project',
};

/** The project that a template belongs to decides who may change its variables. */
function useProjectOf(kind: PlaceKind, id: string): string | undefined {
  const { organizationId } = useSession();
  const { data } = useRead('listTemplates', { query: { organizationId } }, { enabled: kind === 'template' });
  const template = data?.find((each) => each.id === id);
  return template?.creationScope === 'PROJECT' ? template.creationScopeId : undefined;
}

export function VariablesPage() {
  const { organizationId } = useSession();
  const [{ scope = 'organization', id: idInAddress = '' }, change] = useSearchState();
  const kind = scopes[scope] ?? 'organization';
  const id = kind === 'organization' ? organizationId : idInAddress;
  const projectId = useProjectOf(kind, id);
  const place: VariablesPlace = { kind, id, ...(projectId === undefined ? {} : { projectId }) };
  const setId = (next: string) => change({ id: next || undefined });
  return (
    <Page
      title="Variables"
      lead="Variables that apply at a place: its own, and inherited ones that it does not override."
      calls={[
        callOf('List these variables', 'listVariables', { query: listQueryOf(place, organizationId) }, [
          'variables',
          'list',
          ...placeFlags(place),
        ]),
      ]}
    >
      <Group gap="sm" align="end" mb="md">
        <SegmentedControl
          aria-label="Place"
          data={placeKinds.map((value) => ({ value, label: placeWords[value] }))}
          value={kind}
          onChange={(next) =>
            change({ scope: next === 'organization' ? undefined : next, id: undefined }, true)
          }
        />
        {kind === 'project' && (
          <ProjectSelect
            label="Project"
            isLabelHidden
            placeholder="Choose a project"
            value={id}
            onChange={setId}
          />
        )}
        {kind === 'template' && <TemplateSelect isLabelHidden value={id} onChange={setId} />}
      </Group>
      {id === '' ? (
        <p className={classes.choose}>Choose the {placeWords[kind].toLowerCase()} first.</p>
      ) : (
        <ScopeVariables place={place} />
      )}
      <WhichCounts />
    </Page>
  );
}
