/** All templates, found by name, tool and project. */
import { Button, Select } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { creatableTemplateTypes } from '#contract/schema/template-types.ts';
import type { Template } from '#contract/templates/shapes.ts';
import { useRead } from '../../api/queries.ts';
import { useRights } from '../../api/rights.ts';
import { useSession } from '../../api/session.ts';
import { toolName } from '../../design/words.ts';
import { ProjectSelect, useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import { sourceOf } from '../../forms/source/source-values.ts';
import classes from '../../records/records.module.css';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { callOf } from '../../ui/calls.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { Page } from '../../ui/Page.tsx';
import { SearchBox } from '../../ui/SearchBox.tsx';
import { useSearchState } from '../../ui/search.ts';
import { TimeAgo } from '../../ui/Time.tsx';
import { placeOfCode } from '../environments/new/code.ts';
import { type Order, sortTemplates, templatesMatching } from './find-templates.ts';

function useColumns(): Column<Template>[] {
  const { projects } = useProjects(true);
  return [
    {
      id: 'name',
      head: 'Name',
      sort: 'name',
      cell: ({ id = '', name, description }) => (
        <>
          <Link to="/templates/$templateId" params={{ templateId: id }} className={classes.name!}>
            <bdi>{name}</bdi>
          </Link>
          {description && <div className={classes.faint}>{description}</div>}
        </>
      ),
    },
    { id: 'type', head: 'Tool', sort: 'type', cell: ({ type }) => toolName(type) },
    {
      id: 'code',
      head: 'Code',
      isMinor: true,
      cell: (template) => <code className={classes.code}>{placeOfCode(sourceOf(template))}</code>,
    },
    {
      id: 'projects',
      head: 'Projects',
      cell: ({ projectIds = [] }) => (
        <bdi>
          {projectIds.length === 0 ? '–' : projectIds.map((id) => pathOf(projects, id) || '…').join(', ')}
        </bdi>
      ),
    },
    {
      id: 'updatedAt',
      head: 'Changed',
      sort: 'updatedAt',
      isMinor: true,
      cell: ({ updatedAt }) => updatedAt && <TimeAgo at={updatedAt} />,
    },
  ];
}

function Filters() {
  const [{ q, type, project = '' }, change] = useSearchState();
  return (
    <div className={classes.filters} role="search">
      <SearchBox label="Name, description or repository" value={q} onSearch={(text) => change({ q: text })} />
      <Select
        aria-label="Tool"
        placeholder="Any tool"
        clearable
        data={creatableTemplateTypes.map((value) => ({ value, label: toolName(value) }))}
        value={type ?? null}
        onChange={(value) => change({ type: value ?? undefined })}
      />
      <ProjectSelect
        label="Project"
        isLabelHidden
        placeholder="Any project"
        clearable
        value={project}
        onChange={(id) => change({ project: id || undefined })}
      />
    </div>
  );
}

function NoTemplates({ organizationId }: { readonly organizationId: string }) {
  const body = {
    organizationId,
    name: 'network',
    type: 'terraform',
    repository: 'https://git.example.com/network.git',
  } as const;
  return (
    <EmptyState
      title="No templates yet"
      call={callOf('Create a template', 'createTemplate', { body }, [
        ...['templates', 'create', 'network', '--repository', body.repository],
      ])}
    >
      A template says where code comes from and which tool runs it. Many environments can share one.
    </EmptyState>
  );
}

export function TemplatesPage() {
  const { organizationId } = useSession();
  const navigate = useNavigate();
  const [{ q = '', type = '', project = '', sort = 'name' }, change] = useSearchState();
  const query = { organizationId, ...(project === '' ? {} : { projectId: project }) };
  const templates = useRead('listTemplates', { query });
  const rights = useRights({ organizationId });
  const columns = useColumns();
  return (
    <Page
      title="Templates"
      lead="Where code comes from and which tool runs it. Environments that share a template get its changes with their next deployment."
      actions={
        <ActionButton
          size="xs"
          whyNot={rights.isKnown ? rights.whyNot('CREATE_AND_EDIT_TEMPLATES') : undefined}
          onClick={() => void navigate({ to: '/templates/new' })}
        >
          New template
        </ActionButton>
      }
      calls={[callOf('List templates', 'listTemplates', { query }, ['templates', 'list'])]}
    >
      <Filters />
      <Loaded query={templates}>
        {(all) => {
          const found = sortTemplates(templatesMatching(all, q, type), sort as Order);
          if (all.length === 0 && project === '') return <NoTemplates organizationId={organizationId} />;
          if (found.length === 0)
            return (
              <EmptyState
                title="No matching templates"
                action={
                  <Button
                    variant="default"
                    onClick={() => change({ q: undefined, type: undefined, project: undefined })}
                  >
                    Show all
                  </Button>
                }
              />
            );
          return (
            <DataTable
              label="Templates"
              columns={columns}
              rows={found}
              idOf={({ id = '' }) => id}
              onOpen={({ id = '' }) =>
                void navigate({ to: '/templates/$templateId', params: { templateId: id } })
              }
              sort={sort}
              onSort={(next) => change({ sort: next })}
            />
          );
        }}
      </Loaded>
    </Page>
  );
}
