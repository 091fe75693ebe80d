/** Rights that are chosen, in groups, each with what it is for. */
import { Button, Checkbox, Group } from '@mantine/core';
import type { Right } from '#contract/schema/rights.ts';
import classes from './people.module.css';
import { RightName } from './RightName.tsx';
import { type RightGroup, rightGroups } from './right-texts.ts';

export interface RightsFieldProps {
  readonly value: readonly Right[];
  readonly onChange: (rights: Right[]) => void;
  readonly error?: string | undefined;
}

function GroupOfRights({ group, value, onChange }: RightsFieldProps & { group: RightGroup }) {
  const all = group.rights.map(([right]) => right);
  const hasAll = all.every((right) => value.includes(right));
  const others = value.filter((right) => !all.includes(right));
  return (
    <fieldset className={classes.rightGroup}>
      <legend>{group.name}</legend>
      <Button
        size="compact-xs"
        variant="subtle"
        mb="xs"
        onClick={() => onChange(hasAll ? others : [...others, ...all])}
      >
        {hasAll ? 'None of them' : 'All of them'}
      </Button>
      {group.rights.map(([right, text]) => (
        <Checkbox
          key={right}
          className={classes.right!}
          label={<RightName right={right} />}
          description={text}
          checked={value.includes(right)}
          onChange={(event) =>
            onChange(event.currentTarget.checked ? [...value, right] : value.filter((each) => each !== right))
          }
        />
      ))}
    </fieldset>
  );
}

export function RightsField(props: RightsFieldProps) {
  return (
    <div>
      <Group justify="space-between">
        <strong>Rights</strong>
        <span className={classes.why}>{props.value.length} chosen</span>
      </Group>
      {props.error !== undefined && (
        <p role="alert" style={{ color: 'var(--e-fail)' }}>
          {props.error}
        </p>
      )}
      {rightGroups.map((group) => (
        <GroupOfRights key={group.name} group={group} {...props} />
      ))}
    </div>
  );
}
