/** The name of a right, which may break between its words. */
import { Fragment } from 'react';
import type { Right } from '#contract/schema/rights.ts';
import classes from './people.module.css';

export function RightName({ right }: { readonly right: Right }) {
  return (
    <span className={classes.rightName}>
      {right.split('_').map((word, at) => (
        <Fragment key={word}>
          {at > 0 && '_'}
          {at > 0 && <wbr />}
          {word}
        </Fragment>
      ))}
    </span>
  );
}
