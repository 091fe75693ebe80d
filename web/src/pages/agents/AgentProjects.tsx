/** The projects whose deployments an agent runs, and whether it is the default agent of the organization. */
import { Group } from '@mantine/core';
import { useState } from 'react';
import { showDone } from '../../api/messages.ts';
import { type Reply, useChange, useRead } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { ProjectSelect, useProjects } from '../../forms/ProjectSelect.tsx';
import { pathOf } from '../../forms/project-tree.ts';
import { Part } from '../../records/Part.tsx';
import classes from '../../records/records.module.css';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Loaded } from '../../ui/Loaded.tsx';
import { concernedReads, type ListedAgent } from './agent-words.ts';

const refreshes = [...concernedReads, 'listProjectAgents'] as const;

interface AgentProjectsProps {
  readonly agent: ListedAgent;
  readonly whyNot: string | undefined;
}

function Default({ agent, whyNot, isChosen }: AgentProjectsProps & { readonly isChosen: boolean }) {
  const { organizationId } = useSession();
  const choose = useChange('setDefaultAgent', { refreshes });
  const isOurs = isChosen && agent.isDefault === true;
  return (
    <Group mt="sm" justify="space-between">
      <span>
        {isOurs
          ? 'The default agent: it alone runs the deployments of projects without an agent.'
          : isChosen
            ? 'Another agent runs the deployments of projects without an agent.'
            : 'No default agent was chosen: agents without projects run the deployments of all other projects.'}
      </span>
      <ActionButton
        size="xs"
        variant="default"
        loading={choose.isPending}
        whyNot={whyNot}
        onClick={() =>
          choose.mutate({ query: { organizationId }, body: { agent: isOurs ? null : (agent.id ?? null) } })
        }
      >
        {isOurs ? 'No longer default' : 'Make it the default'}
      </ActionButton>
    </Group>
  );
}

function List({
  agent,
  whyNot,
  assignments,
}: AgentProjectsProps & { readonly assignments: Reply<'listProjectAgents'> }) {
  const { organizationId } = useSession();
  const { projects } = useProjects(true);
  const [projectId, setProjectId] = useState('');
  const assign = useChange('assignProjectAgents', {
    refreshes,
    onSuccess: () => {
      setProjectId('');
      showDone('The next jobs of the project go to its agent');
    },
    onError: () => true,
  });
  const send = (id: string, to: string | null) =>
    assign.mutate({ query: { organizationId }, body: { [id]: to } });
  const { projectsAgents, inheritedFrom } = assignments;
  const own = Object.entries(projectsAgents).flatMap(([id, key]) =>
    key === agent.agentKey || key === agent.id ? [id] : [],
  );
  return (
    <>
      <ul className={classes.list}>
        {own.length === 0 && <li>No project is assigned to it.</li>}
        {own.map((id) => (
          <li key={id}>
            <bdi>{pathOf(projects, id)}</bdi>
            {inheritedFrom[id] === undefined ? (
              <ActionButton size="xs" variant="default" whyNot={whyNot} onClick={() => send(id, null)}>
                Take back
              </ActionButton>
            ) : (
              <span>as {pathOf(projects, inheritedFrom[id])}</span>
            )}
          </li>
        ))}
      </ul>
      <FormAlert mb="md" error={assign.error} />
      <Group align="end" mt="sm">
        <ProjectSelect
          label="Assign a project"
          placeholder="Project"
          value={projectId}
          onChange={setProjectId}
          without={({ id }) => own.includes(id) && inheritedFrom[id] === undefined}
        />
        <ActionButton
          variant="default"
          loading={assign.isPending}
          whyNot={whyNot ?? (projectId === '' ? 'Choose a project first.' : undefined)}
          onClick={() => send(projectId, agent.id ?? agent.agentKey)}
        >
          Assign
        </ActionButton>
      </Group>
    </>
  );
}

export function AgentProjects({ agent, whyNot }: AgentProjectsProps) {
  const { organizationId } = useSession();
  const assignments = useRead('listProjectAgents', { query: { organizationId } });
  return (
    <Part
      title="Projects"
      lead="Only this agent runs the deployments of these projects and of those below, and an agent that has projects runs no others."
    >
      <Loaded query={assignments} lines={2}>
        {(found) => (
          <>
            <List agent={agent} whyNot={whyNot} assignments={found} />
            <Default agent={agent} whyNot={whyNot} isChosen={found.isDefaultChosen} />
          </>
        )}
      </Loaded>
    </Part>
  );
}
