/** Deletes a template, which can no longer be used. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Template } from '#contract/templates/shapes.ts';
import { showDone } from '../../api/messages.ts';
import { useChange, usePage } from '../../api/queries.ts';
import { ActionButton } from '../../ui/ActionButton.tsx';
import { Confirm } from '../../ui/Confirm.tsx';
import { usersText } from './users-text.ts';

export interface DeleteTemplateProps {
  readonly template: Template;
  readonly whyNot: string | undefined;
}

export function DeleteTemplate({ template: { id = '', name }, whyNot }: DeleteTemplateProps) {
  const [isOpen, setIsOpen] = useState(false);
  const navigate = useNavigate();
  const used = usePage('listEnvironments', { query: { blueprintId: id, limit: 5, sort: 'name' } });
  const remove = useChange('deleteTemplate', {
    refreshes: ['listTemplates', 'getTemplate'],
    onSuccess: () => {
      showDone(`Template ${name} was deleted`);
      void navigate({ to: '/templates' });
    },
  });
  const users =
    used.data === undefined
      ? 'Checking what uses it.'
      : usersText(
          used.data.rows.map((row) => row.name),
          used.data.total,
        );
  return (
    <>
      <ActionButton
        size="xs"
        variant="default"
        color="red"
        whyNot={whyNot ?? users}
        loading={remove.isPending}
        onClick={() => setIsOpen(true)}
      >
        Delete
      </ActionButton>
      <Confirm
        isOpen={isOpen}
        title={`Delete the template ${name}?`}
        verb="Delete"
        isBusy={remove.isPending}
        onConfirm={() => {
          setIsOpen(false);
          remove.mutate({ params: { id } });
        }}
        onClose={() => setIsOpen(false)}
      >
        No environment uses it. It disappears from all lists and projects, and its name can be used again.
      </Confirm>
    </>
  );
}
