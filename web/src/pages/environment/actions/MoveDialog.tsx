/** Moves an environment to another project. */
import { Modal } from '@mantine/core';
import { useState } from 'react';
import { showDone } from '../../../api/messages.ts';
import { useChange } from '../../../api/queries.ts';
import { DialogFoot } from '../../../forms/DialogFoot.tsx';
import { FormAlert } from '../../../forms/FormAlert.tsx';
import { ProjectSelect } from '../../../forms/ProjectSelect.tsx';
import { type EnvironmentProps, environmentReads } from '../facts/reads.ts';

export function MoveDialog({ environment, onClose }: EnvironmentProps & { readonly onClose: () => void }) {
  const { id, projectId } = environment;
  const [target, setTarget] = useState('');
  const move = useChange('moveEnvironment', {
    refreshes: [...environmentReads, 'listVariables', 'explainPermissions'],
    onSuccess: () => {
      showDone('Moved');
      onClose();
    },
    onError: () => true,
  });
  return (
    <Modal opened onClose={onClose} title="Move to another project">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (target !== '') move.mutate({ params: { id }, body: { projectId: target } });
        }}
      >
        <FormAlert error={move.error} />
        <p>
          It keeps its state and its history. Rights and variables of the new project apply; variables from
          the next deployment on.
        </p>
        <ProjectSelect
          label="Project"
          required
          value={target}
          onChange={setTarget}
          without={(project) => project.id === projectId}
        />
        <DialogFoot onCancel={onClose} verb="Move" isBusy={move.isPending} isDisabled={target === ''} />
      </form>
    </Modal>
  );
}
