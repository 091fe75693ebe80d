/** Moves an environment to another project. */
import { useState } from 'react';
import { showDone } from '../../../api/messages.ts';
import { useChange } from '../../../api/queries.ts';
import { ProjectSelect } from '../../../forms/ProjectSelect.tsx';
import { FormDialog } from '../../../records/FormDialog.tsx';
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
    <FormDialog
      title="Move to another project"
      lead="It keeps its state and its history. Rights and variables of the new project apply; variables from the next deployment on."
      verb="Move"
      isBusy={move.isPending}
      problem={move.error}
      whyNot={target === '' ? 'Choose a project first.' : undefined}
      onSubmit={() => move.mutate({ params: { id }, body: { projectId: target } })}
      onClose={onClose}
    >
      <ProjectSelect
        label="Project"
        required
        value={target}
        onChange={setTarget}
        without={(project) => project.id === projectId}
      />
    </FormDialog>
  );
}
