/** The rights of a role that cannot be changed. */
import type { Right } from '#contract/schema/rights.ts';
import { Part } from '../../records/Part.tsx';
import classes from './people.module.css';
import { RightName } from './RightName.tsx';
import { rightGroups } from './right-texts.ts';

export function RightsList({ rights }: { readonly rights: readonly Right[] }) {
  return rightGroups.map((group) => {
    const held = group.rights.filter(([right]) => rights.includes(right));
    if (held.length === 0) return null;
    return (
      <Part key={group.name} title={group.name}>
        {held.map(([right, text]) => (
          <div key={right} className={classes.right}>
            <RightName right={right} />
            <div className={classes.why}>{text}</div>
          </div>
        ))}
      </Part>
    );
  });
}
