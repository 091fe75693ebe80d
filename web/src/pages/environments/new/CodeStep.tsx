/** The first step: where the code comes from. */
import { Alert, Anchor, Autocomplete, SegmentedControl, Select } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRead } from '../../../api/queries.ts';
import { useSession } from '../../../api/session.ts';
import { toolName } from '../../../design/words.ts';
import { ProjectSelect } from '../../../forms/ProjectSelect.tsx';
import { Section, Wide } from '../../../forms/Section.tsx';
import { SourceFields } from '../../../forms/source/SourceFields.tsx';
import { accessOf, sourceErrorsOf, sourceOf } from '../../../forms/source/source-values.ts';
import { callOf } from '../../../ui/calls.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Facts } from '../../../ui/Facts.tsx';
import { placeOfCode } from './code.ts';
import type { NewEnvironmentForm } from './use-new-environment.ts';

function NoTemplates({ projectId }: { readonly projectId: string }) {
  const { organizationId } = useSession();
  return (
    <EmptyState
      title="This project has no template"
      action={
        <Anchor renderRoot={(props) => <Link to="/templates/new" {...props} />}>Create a template</Anchor>
      }
      call={callOf(
        'Create a template for this project',
        'createTemplate',
        {
          body: {
            organizationId,
            name: 'network',
            type: 'terraform',
            repository: 'https://git.example.com/network.git',
            projectIds: [projectId],
          },
        },
        [
          ...['templates', 'create', 'network', '--repository', 'https://git.example.com/network.git'],
          ...['--project', projectId],
        ],
      )}
    >
      Templates are shared by environments. Without one, use a repository.
    </EmptyState>
  );
}

function TemplateRevision({ draft, template, errors, set }: NewEnvironmentForm) {
  const { organizationId } = useSession();
  const access = template
    ? accessOf(sourceOf(template), draft.projectId, organizationId)
    : { repository: '' };
  const { data } = useRead(
    'listRepositoryRevisions',
    { query: access },
    { enabled: template !== undefined && template.isHelmRepository !== true },
  );
  return (
    <Autocomplete
      label="Another revision"
      description={`Empty: that of the template, ${template?.revision || 'the default branch'}`}
      data={[...new Set([...(data?.heads ?? []), ...(data?.tags ?? [])])]}
      limit={100}
      value={draft.templateRevision}
      onChange={(templateRevision) => set({ templateRevision })}
      error={errors.templateRevision}
      autoComplete="off"
    />
  );
}

function TemplateChoice(state: NewEnvironmentForm) {
  const { draft, template, templates, errors, set } = state;
  if (templates.data?.length === 0) return <NoTemplates projectId={draft.projectId} />;
  return (
    <Section
      title="Template"
      hint="Says which code runs, and with which tool. Changes of it reach all its environments."
    >
      <Wide>
        <Select
          label="Template"
          data={(templates.data ?? []).map(({ id, name, type }) => ({
            value: id ?? '',
            label: `${name} · ${toolName(type)}`,
          }))}
          value={draft.templateId === '' ? null : draft.templateId}
          onChange={(templateId) => set({ templateId: templateId ?? '' })}
          searchable
          required
          disabled={draft.projectId === ''}
          placeholder={draft.projectId === '' ? 'Choose the project first' : 'Choose a template'}
          nothingFoundMessage="No matching template in this project"
          error={errors.templateId}
        />
      </Wide>
      {template && (
        <>
          <Wide>
            <Facts
              facts={[
                ['About', template.description],
                ['Code', <code key="code">{placeOfCode(sourceOf(template))}</code>],
                ['Tool', toolName(template.type)],
              ]}
            />
          </Wide>
          <TemplateRevision {...state} />
        </>
      )}
    </Section>
  );
}

/** Says before anything is typed what would be refused at the end. */
function IsFull({ projectId }: { readonly projectId: string }) {
  return (
    <Wide>
      <Alert color="yellow" role="status" title="The project has reached its limit of active environments">
        Another one is refused. Destroy or archive one, choose another project, or raise the limit in{' '}
        <Link to="/projects/$projectId" params={{ projectId }} search={{ tab: 'policy' }}>
          its policy
        </Link>
        .
      </Alert>
    </Wide>
  );
}

export function CodeStep(state: NewEnvironmentForm) {
  const { draft, errors, set, isFull } = state;
  return (
    <>
      <Section
        title="Where"
        hint="The project decides who may do what, and which variables and templates there are."
      >
        <Wide>
          <ProjectSelect
            label="Project"
            required
            value={draft.projectId}
            onChange={(projectId) => set({ projectId, templateId: '' })}
            error={errors.projectId}
            placeholder="Choose a project"
          />
        </Wide>
        {isFull && <IsFull projectId={draft.projectId} />}
        <Wide>
          <SegmentedControl
            aria-label="Where the code comes from"
            data={[
              { value: 'template', label: 'From a template' },
              { value: 'repository', label: 'From a repository' },
            ]}
            value={draft.from}
            onChange={(from) => set({ from: from as 'template' | 'repository' })}
          />
        </Wide>
      </Section>
      {draft.from === 'template' ? (
        <TemplateChoice {...state} />
      ) : (
        <SourceFields
          values={draft.source}
          errors={sourceErrorsOf(errors)}
          onChange={(changes) => set({ source: { ...draft.source, ...changes } })}
          projectId={draft.projectId}
        />
      )}
    </>
  );
}
