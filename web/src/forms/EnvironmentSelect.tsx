/** Chooses an environment, found by what is typed: there may be many. */
import { Select } from '@mantine/core';
import { useState } from 'react';
import { usePage } from '../api/queries.ts';

export interface EnvironmentSelectProps {
  readonly label: string;
  /** Where it is looked for. */
  readonly within: { readonly organizationId: string } | { readonly projectId: string };
  readonly value: string | null;
  readonly onChange: (id: string | null) => void;
  /** Environments that cannot be chosen. */
  readonly without?: (id: string) => boolean;
  /** Only active ones. */
  readonly isActive?: boolean;
  readonly size?: string;
  readonly disabled?: boolean;
  readonly error?: string | undefined;
}

export function EnvironmentSelect({
  within,
  without,
  isActive,
  size = 'sm',
  ...props
}: EnvironmentSelectProps) {
  const [text, setText] = useState('');
  const { data } = usePage('listEnvironments', {
    query: {
      ...within,
      ...(isActive === undefined ? {} : { isActive }),
      limit: 50,
      sort: 'name',
      excludeFields: 'latestDeploymentLog',
      ...(text === '' ? {} : { searchText: text }),
    },
  });
  const choices = (data?.rows ?? []).filter(({ id }) => !without?.(id));
  return (
    <Select
      {...props}
      size={size}
      placeholder="Type a part of the name"
      searchable
      clearable
      data={choices.map(({ id, name }) => ({ value: id, label: name }))}
      onSearchChange={setText}
      nothingFoundMessage={
        'projectId' in within ? 'No such environment in this project' : 'No such environment'
      }
    />
  );
}
