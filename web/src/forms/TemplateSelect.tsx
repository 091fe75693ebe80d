/** Chooses a template of the organization by its name. */
import { Select } from '@mantine/core';
import { useRead } from '../api/queries.ts';
import { useSession } from '../api/session.ts';

export interface TemplateSelectProps {
  /** Empty: none is chosen. */
  readonly value: string;
  readonly onChange: (id: string) => void;
  /** The label is for people who cannot see what the field is about. */
  readonly isLabelHidden?: boolean;
}

export function TemplateSelect({ value, onChange, isLabelHidden = false }: TemplateSelectProps) {
  const { organizationId } = useSession();
  const { data = [] } = useRead('listTemplates', { query: { organizationId } });
  return (
    <Select
      {...{ [isLabelHidden ? 'aria-label' : 'label']: 'Template' }}
      placeholder="Choose a template"
      data={data.map(({ id = '', name }) => ({ value: id, label: name }))}
      value={value === '' ? null : value}
      onChange={(id) => onChange(id ?? '')}
      searchable
      nothingFoundMessage="No matching template"
      w={280}
    />
  );
}
