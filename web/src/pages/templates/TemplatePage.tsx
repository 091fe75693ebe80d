/** One template: its settings, its variables, who uses it, and where it may be used. */
import { Alert } from '@mantine/core';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { Template } from '#contract/templates/shapes.ts';
import { errorText } from '../../api/errors.ts';
import { type Refetch, type Tagged, usePage, useRead, useTagged } from '../../api/queries.ts';
import { type Rights, useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { toolName } from '../../design/words.ts';
import { sourceOf } from '../../forms/source/source-values.ts';
import { UrlTabs } from '../../records/UrlTabs.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { useSearchState } from '../../ui/search.ts';
import { definitionsQuery, hasDefinitions } from '../environments/new/code.ts';
import { EnvironmentsTable } from '../projects/EnvironmentsTable.tsx';
import { ScopeVariables } from '../variables/ScopeVariables.tsx';
import { WhichCounts } from '../variables/WhichCounts.tsx';
import { DeleteTemplate } from './DeleteTemplate.tsx';
import { EditTemplate } from './EditTemplate.tsx';
import { TemplateProjects } from './TemplateProjects.tsx';
import { TemplateSettings } from './TemplateSettings.tsx';

interface OfTemplate {
  readonly template: Template;
}

function NoEnvironments({ template: { id = '', projectIds = [] } }: OfTemplate) {
  const projectId = projectIds[0];
  const body = {
    name: 'staging',
    projectId: projectId ?? '{projectId}',
    deployRequest: { blueprintId: id },
  };
  return (
    <EmptyState
      title="No environment uses this template"
      action={
        <Link to="/environments/new" search={{ template: id }}>
          Create one
        </Link>
      }
      call={callOf('Create an environment from it', 'createEnvironment', { body }, [
        ...['environment', 'create', 'staging', '--template', id],
        ...(projectId === undefined ? [] : ['--project', projectId]),
      ])}
    />
  );
}

/** The environments that use a template. */
function TemplateEnvironments({ template }: OfTemplate) {
  return (
    <EnvironmentsTable
      label="Environments that use this template"
      query={{ blueprintId: template.id ?? '' }}
      empty={<NoEnvironments template={template} />}
    />
  );
}

/** Place of the rights on a template. */
function usePlaceOf(template: Template) {
  const { organizationId } = useSession();
  return template.creationScope === 'PROJECT' ? { projectId: template.creationScopeId } : { organizationId };
}

function TemplateVariables({ template }: { readonly template: Template }) {
  const { organizationId } = useSession();
  const source = sourceOf(template);
  const projectId = template.creationScope === 'PROJECT' ? template.creationScopeId : '';
  const canRead = hasDefinitions(source);
  const definitions = useRead(
    'listVariablesFromRepository',
    { query: canRead ? definitionsQuery(source, projectId, organizationId) : { repository: '' } },
    { enabled: canRead },
  );
  return (
    <>
      {definitions.isError && (
        <Alert color="yellow" role="status" mb="md" title="The variables of the code cannot be read">
          {errorText(definitions.error).text}
        </Alert>
      )}
      <ScopeVariables
        place={{ kind: 'template', id: template.id ?? '', ...(projectId === '' ? {} : { projectId }) }}
        definitions={definitions.data}
      />
      <WhichCounts />
    </>
  );
}

interface TemplateViewProps {
  readonly read: Tagged<Template>;
  readonly refetch: Refetch;
}

function TemplateTabs({ read, rights }: { readonly read: Tagged<Template>; readonly rights: Rights }) {
  const template = read.data;
  const used = usePage('listEnvironments', { query: { blueprintId: template.id ?? '', limit: 1 } });
  return (
    <UrlTabs
      isStep
      tabs={[
        { value: 'settings', label: 'Settings', content: () => <TemplateSettings template={template} /> },
        { value: 'variables', label: 'Variables', content: () => <TemplateVariables template={template} /> },
        {
          value: 'environments',
          label: used.data ? `Environments (${used.data.total})` : 'Environments',
          content: () => <TemplateEnvironments template={template} />,
        },
        {
          value: 'projects',
          label: `Projects (${template.projectIds?.length ?? 0})`,
          content: () => <TemplateProjects template={template} rights={rights} />,
        },
      ]}
    />
  );
}

function Shown({ read, refetch }: TemplateViewProps) {
  const template = read.data;
  const { id = '', name, description, type, isDeleted = false } = template;
  const [{ edit }, change] = useSearchState();
  const navigate = useNavigate();
  const rights = useRights(usePlaceOf(template));
  const deleted = isDeleted ? 'The template was deleted.' : undefined;
  return (
    <Page
      title={name}
      aside={<span>{isDeleted ? `${toolName(type)} · deleted` : toolName(type)}</span>}
      lead={description}
      crumbs={[{ label: 'Templates', to: '/templates' }]}
      actions={
        edit === undefined && (
          <>
            <ActionButton
              size="xs"
              whyNot={deleted}
              onClick={() => void navigate({ to: '/environments/new', search: { template: id } })}
            >
              New environment
            </ActionButton>
            <ActionButton
              size="xs"
              variant="default"
              whyNot={deleted ?? rights.whyNot('CREATE_AND_EDIT_TEMPLATES')}
              onClick={() => change({ edit: '' }, true)}
            >
              Edit
            </ActionButton>
            <DeleteTemplate
              template={template}
              whyNot={deleted ?? rights.whyNot('CREATE_AND_EDIT_TEMPLATES')}
            />
          </>
        )
      }
      calls={[
        callOf('Show this template', 'getTemplate', { params: { id } }, ['templates', 'show', id]),
        callOf('Delete this template', 'deleteTemplate', { params: { id } }, ['templates', 'delete', id]),
      ]}
    >
      {edit === undefined ? (
        <TemplateTabs read={read} rights={rights} />
      ) : (
        <EditTemplate
          read={read}
          refetch={refetch}
          whyNot={rights.whyNot('CREATE_AND_EDIT_TEMPLATES')}
          onDone={() => change({ edit: undefined })}
        />
      )}
    </Page>
  );
}

export function TemplatePage() {
  const { templateId = '' } = useParams({ strict: false });
  const template = useTagged('getTemplate', { params: { id: templateId } });
  if (template.data) return <Shown read={template.data} refetch={template.refetch} />;
  return (
    <Page title="Template" crumbs={[{ label: 'Templates', to: '/templates' }]} calls={[]}>
      <Loaded query={template}>{() => null}</Loaded>
    </Page>
  );
}
