/** An attribute that changes: before and after side by side, long text as a difference. */
import { Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { ResourceChange } from '#contract/deployments/plan.ts';
import classes from './plan.module.css';
import { ValueText } from './ValueText.tsx';
import { isDifference, lengthText, shownSides } from './values.ts';

const TextDifference = lazy(() => import('./TextDifference.tsx'));

type Attribute = ResourceChange['attributes'][number];

/** Longer differences are computed on request. */
const longestAtOnce = 20_000;

function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  const [isOpen, setOpen] = useState(before.length + after.length <= longestAtOnce);
  if (!isOpen)
    return (
      <Button size="compact-xs" variant="default" onClick={() => setOpen(true)}>
        Compare {lengthText(before.length)} with {lengthText(after.length)}
      </Button>
    );
  return (
    <Suspense fallback={<span className={classes.noValue}>Comparing …</span>}>
      <TextDifference before={before} after={after} />
    </Suspense>
  );
}

export interface AttributeRowProps {
  readonly attribute: Attribute;
  /** Possible sides. */
  readonly sides: 'before' | 'after' | 'both';
  /** Whether the resource is replaced because of it. */
  readonly isForcing?: boolean;
}

export function AttributeRow({ attribute, sides, isForcing = false }: AttributeRowProps) {
  const [before, after] = shownSides(attribute.before, attribute.after);
  const isChanged = sides === 'both';
  return (
    <div className={classes.attribute} data-forces={isForcing || undefined} role="listitem">
      <div className={classes.attributeName}>
        <bdi>{attribute.name}</bdi>
        {isForcing && <span className={classes.forces}>forces the replacement</span>}
      </div>
      {isChanged && isDifference(before, after) && before.kind === 'text' && after.kind === 'text' ? (
        <div className={classes.wide}>
          <Difference before={before.text} after={after.text} />
        </div>
      ) : (
        <div className={classes.sides} data-sides={sides}>
          {sides !== 'after' && (
            <div className={classes.side} data-side="before">
              <span className="visually-hidden">Before: </span>
              <ValueText value={before} />
            </div>
          )}
          {isChanged && (
            <span className={classes.arrow} aria-hidden="true">
              →
            </span>
          )}
          {sides !== 'before' && (
            <div className={classes.side} data-side="after">
              <span className="visually-hidden">After: </span>
              <ValueText value={after} />
            </div>
          )}
        </div>
      )}
    </div>
  );
}
