/** Actions on a project as a whole: edit, move, archive and restore. */
import { useState } from 'react';
import type { Project } from '#contract/projects/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { type Refetch, type Tagged, useChange } from '../../api/queries.ts';
import { type Rights, useRights } from '../../api/rights.ts';
import { ProjectSelect } from '../../forms/ProjectSelect.tsx';
import { isWithin } from '../../forms/project-tree.ts';
import { FormDialog } from '../../records/FormDialog.tsx';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Confirm } from '../../ui/Confirm.tsx';
import { EditProjectDialog } from './ProjectDialog.tsx';

const refreshes = ['listProjects', 'getProject', 'listEnvironments', 'listVariables'] as const;

interface OneProject {
  readonly project: Project;
  readonly onClose: () => void;
}

function MoveDialog({ project, onClose }: OneProject) {
  const [target, setTarget] = useState(project.parentProjectId ?? '');
  const rights = useRights(target === '' ? undefined : { projectId: target });
  const move = useChange('moveProject', {
    refreshes,
    onSuccess: () => {
      showDone(`${project.name} was moved with everything below it`);
      onClose();
    },
    onError: () => true,
  });
  const isSame = target === (project.parentProjectId ?? '');
  return (
    <FormDialog
      title={`Move ${project.name}`}
      lead="Everything below it moves along. Variables, sets, credentials and roles of the new place hold from the next deployment on."
      verb="Move"
      isBusy={move.isPending}
      problem={move.error}
      whyNot={isSame ? 'It is there already.' : target === '' ? undefined : rights.whyNot('CREATE_PROJECT')}
      onSubmit={() =>
        move.mutate({ params: { id: project.id }, body: { targetProjectId: target === '' ? null : target } })
      }
      onClose={onClose}
    >
      <ProjectSelect
        label="Below"
        placeholder="At the top"
        clearable
        value={target}
        onChange={setTarget}
        without={(each) => isWithin(each, project.id)}
      />
    </FormDialog>
  );
}

function ArchiveDialog({ project, onClose }: OneProject) {
  const archive = useChange('deleteProject', {
    refreshes,
    onSuccess: () => {
      showDone(`${project.name} was archived`);
      onClose();
    },
  });
  return (
    <Confirm
      isOpen
      title={`Archive ${project.name}?`}
      verb="Archive"
      isBusy={archive.isPending}
      onConfirm={() => archive.mutate({ params: { id: project.id } })}
      onClose={onClose}
    >
      With everything below it. Nothing is destroyed or lost, and it can be restored. Queued deployments are
      cancelled, except destroys; running ones continue. Its environments accept only destroys.
    </Confirm>
  );
}

export interface ProjectActionsProps {
  readonly read: Tagged<Project>;
  readonly refetch: Refetch;
  readonly rights: Rights;
}

export function ProjectActions({ read, refetch, rights }: ProjectActionsProps) {
  const project = read.data;
  const [dialog, setDialog] = useState<'edit' | 'move' | 'archive'>();
  const close = () => setDialog(undefined);
  const whyNot = rights.whyNot('EDIT_PROJECT_SETTINGS');
  const restore = useChange('updateProject', {
    refreshes,
    onSuccess: () => showDone(`${project.name} was restored`),
  });
  return (
    <>
      <ActionButton size="xs" variant="default" whyNot={whyNot} onClick={() => setDialog('edit')}>
        Edit
      </ActionButton>
      <ActionButton size="xs" variant="default" whyNot={whyNot} onClick={() => setDialog('move')}>
        Move
      </ActionButton>
      {project.isArchived ? (
        <ActionButton
          size="xs"
          variant="default"
          whyNot={whyNot}
          loading={restore.isPending}
          onClick={() => restore.mutate({ params: { id: project.id }, body: { isArchived: false } })}
        >
          Restore
        </ActionButton>
      ) : (
        <ActionButton
          size="xs"
          variant="default"
          color="red"
          whyNot={whyNot}
          onClick={() => setDialog('archive')}
        >
          Archive
        </ActionButton>
      )}
      {dialog === 'edit' && <EditProjectDialog read={read} refetch={refetch} onClose={close} />}
      {dialog === 'move' && <MoveDialog project={project} onClose={close} />}
      {dialog === 'archive' && <ArchiveDialog project={project} onClose={close} />}
    </>
  );
}
