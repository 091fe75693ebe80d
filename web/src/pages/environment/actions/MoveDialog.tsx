/** Moves an environment to another project. */
import { Modal, Select } from '@mantine/core';
import { useState } from 'react';
import { useChange, useRead } from '../../../api/queries.ts';
import { DialogFoot } from '../../../forms/DialogFoot.tsx';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { showDone } from '../../../ui/messages.ts';
import { environmentReads, type EnvironmentProps } from '../reads.ts';

export function MoveDialog({ environment, onClose }: EnvironmentProps & { readonly onClose: () => void }) {
  const { id, organizationId, projectId } = environment;
  const [target, setTarget] = useState<string | null>(null);
  const { data: projects = [] } = useRead('listProjects', { query: { organizationId } });
  const move = useChange('moveEnvironment', {
    refreshes: [...environmentReads, 'listVariables', 'explainPermissions'],
    onSuccess: () => {
      showDone('Moved');
      onClose();
    },
    onError: () => true,
  });
  const choices = projects
    .filter((project) => project.id !== projectId && !project.isArchived)
    .map((project) => ({ value: project.id, label: project.name }));
  return (
    <Modal opened onClose={onClose} title="Move to another project">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (target !== null) move.mutate({ params: { id }, body: { projectId: target } });
        }}
      >
        <FormAlert error={move.error} />
        <p>
          It keeps its state and its history. Rights and variables of the new project apply; variables from
          the next deployment on.
        </p>
        <Select
          label="Project"
          required
          searchable
          data-autofocus
          nothingFoundMessage="No other project"
          data={choices}
          value={target}
          onChange={setTarget}
        />
        <DialogFoot onCancel={onClose} verb="Move" isBusy={move.isPending} isDisabled={target === null} />
      </form>
    </Modal>
  );
}
