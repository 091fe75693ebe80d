/** Deletes a template, which can no longer be used. */
import { useNavigate } from '@tanstack/react-router';
import type { Template } from '#contract/templates/shapes.ts';
import { usePage } from '../../api/queries.ts';
import { Removal } from '../../records/Removal.tsx';
import { usersText } from './users-text.ts';

export interface DeleteTemplateProps {
  readonly template: Template;
  readonly whyNot: string | undefined;
}

export function DeleteTemplate({ template: { id = '', name }, whyNot }: DeleteTemplateProps) {
  const navigate = useNavigate();
  const { data } = usePage('listEnvironments', { query: { blueprintId: id, limit: 5, sort: 'name' } });
  const users =
    data === undefined
      ? 'Checking what uses it.'
      : usersText(
          data.rows.map((row) => row.name),
          data.total,
        );
  return (
    <Removal
      operation="deleteTemplate"
      input={{ params: { id } }}
      refreshes={['listTemplates', 'getTemplate']}
      label="Delete"
      question={`Delete the template ${name}?`}
      done={`Template ${name} was deleted`}
      whyNot={whyNot ?? users}
      onDone={() => void navigate({ to: '/templates' })}
    >
      No environment uses it. It disappears from all lists and projects, and its name can be used again.
    </Removal>
  );
}
