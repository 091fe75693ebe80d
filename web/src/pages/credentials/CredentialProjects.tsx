/** The projects that a cloud credential is assigned to: their runs and those below get it. */
import { Group } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import type { Project } from '#contract/projects/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { read, useChange } from '../../api/queries.ts';
import { FormAlert } from '../../forms/FormAlert.tsx';
import { ProjectSelect, useProjects } from '../../forms/ProjectSelect.tsx';
import { isWithin, pathOf } from '../../forms/project-tree.ts';
import { Part } from '../../records/Part.tsx';
import { Removal } from '../../records/Removal.tsx';
import classes from '../../records/records.module.css';
import { ActionButton } from '../../ui/ActionButton.tsx';
import type { ListedCredential } from './credential-kinds.ts';

const concerned = ['listProjectCredentials'] as const;

/** Those of the projects to which the credential itself is assigned; each project is queried. */
function useAssigned(credentialId: string, projects: readonly Project[]): readonly Project[] {
  const replies = useQueries({
    queries: projects.map(({ id }) => read('listProjectCredentials', { params: { projectId: id } })),
  });
  return projects.filter((_, at) => replies[at]?.data?.credentialIds.includes(credentialId));
}

interface AssignProps {
  readonly credential: Pick<ListedCredential, 'id' | 'projectId'>;
  readonly assigned: readonly Project[];
  readonly whyNot: string | undefined;
}

function Assign({ credential, assigned, whyNot }: AssignProps) {
  const [projectId, setProjectId] = useState('');
  const assign = useChange('assignCredential', {
    refreshes: concerned,
    onSuccess: () => {
      setProjectId('');
      showDone('Runs of the project get the credential from their next phase on');
    },
    onError: () => true,
  });
  const { projectId: home } = credential;
  return (
    <>
      <FormAlert mb="md" error={assign.error} />
      <Group align="end" mt="sm">
        <ProjectSelect
          label="Assign to"
          placeholder="Project"
          value={projectId}
          onChange={setProjectId}
          without={(project) =>
            assigned.some(({ id }) => id === project.id) || (home ? !isWithin(project, home) : false)
          }
        />
        <ActionButton
          variant="default"
          loading={assign.isPending}
          whyNot={whyNot ?? (projectId === '' ? 'Choose a project first.' : undefined)}
          onClick={() => assign.mutate({ params: { credentialId: credential.id, projectId } })}
        >
          Assign
        </ActionButton>
      </Group>
    </>
  );
}

export function CredentialProjects({ credential, whyNot }: Omit<AssignProps, 'assigned'>) {
  const { projects } = useProjects();
  const assigned = useAssigned(credential.id, projects);
  return (
    <Part
      title="Projects"
      lead="Runs of these projects and of those below get it. For each cloud, the nearest assignment counts."
    >
      <ul className={classes.list}>
        {assigned.length === 0 && <li>It is not assigned to a project, so no run gets it.</li>}
        {assigned.map(({ id, name }) => (
          <li key={id}>
            <bdi>{pathOf(projects, id)}</bdi>
            <Removal
              operation="unassignCredential"
              input={{ params: { credentialId: credential.id, projectId: id } }}
              refreshes={concerned}
              label="Remove"
              question={`Remove it from ${name}?`}
              done="The credential was removed from the project"
              whyNot={whyNot}
            >
              <p>From their next phase on, runs of this project and those below it no longer get it.</p>
            </Removal>
          </li>
        ))}
      </ul>
      <Assign credential={credential} assigned={assigned} whyNot={whyNot} />
    </Part>
  );
}
