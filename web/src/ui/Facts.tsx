/** Names and values side by side, such as the settings of something. */
import type { ReactNode } from 'react';
import classes from './Facts.module.css';

export type Fact = readonly [name: string, value: ReactNode];

/** Facts without a value are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) =>
        value === undefined || value === null || value === '' ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
