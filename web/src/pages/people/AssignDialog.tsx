/** Gives a role to a user or a team in a place. */
import { SegmentedControl } from '@mantine/core';
import { useForm } from '@mantine/form';
import { showDone } from '../../api/messages.ts';
import { MemberSelect, RoleSelect, TeamSelect } from '../../records/choosers.tsx';
import { FormDialog } from '../../records/FormDialog.tsx';
import { useChangeForm } from '../../records/use-change-form.ts';
import { concerned } from './held-roles.ts';
import type { ChosenPlace } from './place.tsx';

/** A role of a user in a place. */
export interface RoleAssignmentEntry {
  readonly kind: 'user' | 'team';
  readonly id: string;
  readonly name: string;
  readonly role: string;
}

export interface AssignDialogProps {
  readonly chosen: ChosenPlace;
  /** With an id: that role is changed. */
  readonly begin: Partial<RoleAssignmentEntry>;
  readonly onClose: () => void;
}

type AssignValues = { kind: string; userId: string | null; teamId: string | null; role: string };

function useAssignForm({ begin, chosen, onClose }: AssignDialogProps) {
  const { kind = 'user', id = null } = begin;
  const form = useForm<AssignValues>({
    initialValues: {
      kind,
      userId: kind === 'user' ? id : null,
      teamId: kind === 'team' ? id : null,
      role: begin.role ?? (chosen.scope === 'organization' ? 'User' : 'Viewer'),
    },
    validate: {
      userId: (value, all) => (all.kind === 'user' && value === null ? 'Choose a person or a key.' : null),
      teamId: (value, all) => (all.kind === 'team' && value === null ? 'Choose a team.' : null),
    },
  });
  const options = {
    form,
    refreshes: concerned,
    onSuccess: () => {
      showDone('The role was assigned');
      onClose();
    },
  };
  const user = useChangeForm('assignUserRole', options);
  const team = useChangeForm('assignTeamRole', options);
  const submit = form.onSubmit(({ kind: what, userId, teamId, role }) =>
    what === 'team'
      ? team.change.mutate({ body: { teamId: teamId!, role, ...chosen.place } })
      : user.change.mutate({ body: { userId: userId!, role, ...chosen.place } }),
  );
  return {
    form,
    submit,
    isBusy: user.change.isPending || team.change.isPending,
    problem: user.problem ?? team.problem,
  };
}

export function AssignDialog(props: AssignDialogProps) {
  const { begin, chosen, onClose } = props;
  const { form, submit, isBusy, problem } = useAssignForm(props);
  const isChange = begin.id !== undefined;
  return (
    <FormDialog
      title={isChange ? `Change the role of ${begin.name}` : 'Assign a role'}
      lead="It holds in this place and below. A role that is there already is replaced."
      verb={isChange ? 'Change role' : 'Assign role'}
      isBusy={isBusy}
      problem={problem}
      onClose={onClose}
      onSubmit={submit}
    >
      {!isChange && (
        <SegmentedControl
          aria-label="To whom"
          data={[
            { value: 'user', label: 'A user' },
            { value: 'team', label: 'A team' },
          ]}
          {...form.getInputProps('kind')}
        />
      )}
      {!isChange &&
        (form.values.kind === 'team' ? (
          <TeamSelect label="Team" required {...form.getInputProps('teamId')} />
        ) : (
          <MemberSelect label="User" required {...form.getInputProps('userId')} />
        ))}
      <RoleSelect scope={chosen.scope} label="Role" required {...form.getInputProps('role')} />
    </FormDialog>
  );
}
