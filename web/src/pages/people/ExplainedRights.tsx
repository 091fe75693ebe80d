/** Rights of a person at a place, and the roles that give each of them. */
import { Checkbox } from '@mantine/core';
import { Fragment } from 'react';
import type { Right } from '#contract/schema/rights.ts';
import type { Reply } from '../../api/queries.ts';
import { useSearchState } from '../../ui/search.ts';
import { type ExplainedRole, heldText } from './held-roles.ts';
import classes from './people.module.css';
import { RightName } from './RightName.tsx';
import { type RightGroup, rightGroups } from './right-texts.ts';

type Explained = Reply<'explainPermissions'>;

function Sources({ from }: { readonly from: readonly ExplainedRole[] | undefined }) {
  if (from === undefined) return <span className={classes.none}>No</span>;
  return from.map((role) => (
    <span key={`${role.scopeId}.${role.teamId}`} className={classes.source}>
      <bdi>{heldText(role)}</bdi>
    </span>
  ));
}

interface GroupProps {
  readonly group: RightGroup;
  readonly sources: ReadonlyMap<Right, readonly ExplainedRole[]>;
  readonly isHeldOnly: boolean;
}

function GroupRows({ group, sources, isHeldOnly }: GroupProps) {
  const shown = group.rights.filter(([right]) => !isHeldOnly || sources.has(right));
  if (shown.length === 0) return null;
  return (
    <Fragment>
      <tr className={classes.groupRow}>
        <th colSpan={2} scope="colgroup">
          {group.name}
        </th>
      </tr>
      {shown.map(([right, text]) => (
        <tr key={right}>
          <th scope="row">
            <RightName right={right} />
            <div className={classes.why}>{text}</div>
          </th>
          <td>
            <Sources from={sources.get(right)} />
          </td>
        </tr>
      ))}
    </Fragment>
  );
}

export function ExplainedRights({ explained }: { readonly explained: Explained }) {
  const [{ held }, change] = useSearchState();
  const isHeldOnly = held === 'only';
  const sources = new Map(explained.rights.map(({ right, from }) => [right, from]));
  return (
    <>
      <p>
        {explained.roles.length === 0
          ? 'No role reaches this place.'
          : `Roles that reach this place: ${explained.roles.map(heldText).join('; ')}.`}
      </p>
      <Checkbox
        label="Only granted rights"
        checked={isHeldOnly}
        mb="sm"
        onChange={(event) => change({ held: event.currentTarget.checked ? 'only' : undefined })}
      />
      <div className={classes.matrix} role="region" aria-label="Rights" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Right</th>
              <th scope="col">Comes from</th>
            </tr>
          </thead>
          <tbody>
            {rightGroups.map((group) => (
              <GroupRows key={group.name} group={group} sources={sources} isHeldOnly={isHeldOnly} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
