/** Chooses an environment, found by what is typed: there may be many. */
import { Select } from '@mantine/core';
import { useState } from 'react';
import { usePage, useRead } from '../api/queries.ts';

export interface EnvironmentSelectProps {
  readonly label: string;
  /** Placeholder of an empty field. */
  readonly placeholder?: string;
  /** Project to search in. */
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
  placeholder = 'Type a part of the name',
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
  const found = data?.rows ?? [];
  // The chosen value may be on no page of the results.
  const isKnown = props.value === null || found.some(({ id }) => id === props.value);
  const chosen = useRead(
    'getEnvironment',
    { params: { id: props.value ?? '' } },
    { enabled: data !== undefined && !isKnown },
  );
  const others = isKnown || chosen.data === undefined ? [] : [chosen.data];
  const choices = [...found, ...others].filter(({ id }) => !without?.(id));
  return (
    <Select
      {...props}
      size={size}
      placeholder={placeholder}
      searchable
      clearable
      data={choices.map(({ id, name }) => ({ value: id, label: name }))}
      onSearchChange={setText}
      nothingFoundMessage={
        'projectId' in within ? 'No matching environment in this project' : 'No matching environment'
      }
    />
  );
}
