/** Filters of the list of environments; all of them are in the address. */
import { Button, Checkbox, MultiSelect, Select } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { templateTypes } from '#contract/schema/template-types.ts';
import { useRead } from '../../../api/queries.ts';
import { useRights } from '../../../api/rights.ts';
import { driftLooks, environmentLooks } from '../../../design/status.tsx';
import { toolName } from '../../../design/words.ts';
import { SearchBox } from '../../../ui/SearchBox.tsx';
import type { Search } from '../../../ui/search.ts';
import classes from './list.module.css';
import type { FilterKey } from './list-query.ts';

export interface FiltersProps {
  readonly organizationId: string;
  readonly search: Search;
  readonly onChange: (changes: Partial<Record<FilterKey, string | undefined>>) => void;
}

interface FilterChoice {
  readonly value: string;
  readonly label: string;
}

/** Several words may mean the same, such as those of a drift that was never checked. */
function choicesOf(looks: Readonly<Record<string, { readonly word: string }>>): FilterChoice[] {
  const byWord = Map.groupBy(Object.entries(looks), ([, { word }]) => word);
  return [...byWord].map(([label, same]) => ({ label, value: same.map(([key]) => key).join(',') }));
}

const statusChoices = choicesOf(environmentLooks);
const driftChoices = choicesOf(driftLooks);
const typeChoices = templateTypes.map((value) => ({ value, label: toolName(value) }));

/** The choices that an address names. */
function chosen(choices: readonly FilterChoice[], text: string | undefined): string[] {
  const words = new Set((text ?? '').split(','));
  return choices
    .filter(({ value }) => value.split(',').some((word) => words.has(word)))
    .map(({ value }) => value);
}

interface ManyProps extends FiltersProps {
  readonly field: FilterKey;
  readonly label: string;
  readonly choices: readonly FilterChoice[];
}

function Many({ field, label, choices, search, onChange }: ManyProps) {
  const value = chosen(choices, search[field]);
  return (
    <MultiSelect
      aria-label={label}
      placeholder={value.length === 0 ? label : ''}
      data={choices}
      value={value}
      clearable
      w={value.length > 1 ? 260 : 190}
      onChange={(values) => onChange({ [field]: values.join(',') || undefined })}
    />
  );
}

interface FilterProps extends FiltersProps {
  readonly field: FilterKey;
  readonly label: string;
  readonly choices: readonly FilterChoice[];
}

function One({ field, label, choices, search, onChange }: FilterProps) {
  return (
    <Select
      aria-label={label}
      placeholder={label}
      data={choices}
      value={search[field] ?? null}
      clearable
      searchable={choices.length > 8}
      w={190}
      onChange={(value) => onChange({ [field]: value ?? undefined })}
    />
  );
}

const rare: readonly FilterKey[] = ['type', 'tag', 'expires', 'archived', 'mine'];

function RareFilters(props: FiltersProps) {
  const { organizationId, search, onChange } = props;
  const { project } = search;
  // People who see only some projects get the tags of the one that is chosen.
  const ofAll = useRights({ organizationId }).has('VIEW_ENVIRONMENT');
  const tags = useRead(
    'listEnvironmentTags',
    { query: project ? { projectId: project } : { organizationId } },
    { enabled: ofAll || project !== undefined },
  );
  return (
    <>
      <Many {...props} field="type" label="Any type" choices={typeChoices} />
      <One
        {...props}
        field="tag"
        label="Any tag"
        choices={(tags.data ?? []).map((tag) => ({ value: tag, label: tag }))}
      />
      <One
        {...props}
        field="expires"
        label="Any end"
        choices={[
          { value: 'day', label: 'Ends within a day' },
          { value: 'three-days', label: 'Ends within three days' },
          { value: 'week', label: 'Ends within a week' },
        ]}
      />
      <One
        {...props}
        field="archived"
        label="Not archived"
        choices={[
          { value: 'only', label: 'Only archived' },
          { value: 'all', label: 'Archived, too' },
        ]}
      />
      <Checkbox
        label="Created by me"
        checked={search.mine === 'yes'}
        my={8}
        onChange={(event) => onChange({ mine: event.currentTarget.checked ? 'yes' : undefined })}
      />
    </>
  );
}

export function Filters(props: FiltersProps) {
  const { organizationId, search, onChange } = props;
  const projects = useRead('listProjects', { query: { organizationId } });
  const [isWide, { open }] = useDisclosure(rare.some((key) => search[key] !== undefined));
  const choices = (projects.data ?? [])
    .filter(({ isArchived }) => !isArchived)
    .map(({ id, name }) => ({ value: id, label: name }))
    .toSorted((a, b) => a.label.localeCompare(b.label));
  return (
    <div className={classes.filters} role="search">
      <SearchBox
        label="Name, workspace, repository, project or id"
        value={search.search}
        onSearch={(text) => onChange({ search: text })}
      />
      <One {...props} field="project" label="Any project" choices={choices} />
      <Many {...props} field="status" label="Any status" choices={statusChoices} />
      <Many {...props} field="drift" label="Any drift" choices={driftChoices} />
      {isWide ? (
        <RareFilters {...props} />
      ) : (
        <Button variant="subtle" onClick={open}>
          More filters
        </Button>
      )}
    </div>
  );
}
