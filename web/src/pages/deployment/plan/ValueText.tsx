/** A value of a plan, an output or a variable: sealed, not known yet, or its text. */
import { Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import classes from './plan.module.css';
import { lengthText, previewOf, type ShownValue } from './values.ts';

const TextDifference = lazy(() => import('./TextDifference.tsx'));

function Text({ value }: { readonly value: Extract<ShownValue, { kind: 'text' }> }) {
  const [isWhole, setWhole] = useState(false);
  const { text, isText } = value;
  const preview = previewOf(text);
  const isCut = preview.length < text.length;
  if (isWhole)
    return (
      <Suspense fallback={<span>Loading …</span>}>
        <TextDifference after={text} />
      </Suspense>
    );
  return (
    <>
      <bdi className={classes.value} data-text={isText || undefined}>
        {text === '' ? '""' : preview}
        {isCut && '…'}
      </bdi>
      {isCut && (
        <Button size="compact-xs" variant="subtle" onClick={() => setWhole(true)}>
          Show all {lengthText(text.length)}
        </Button>
      )}
    </>
  );
}

export function ValueText({ value }: { readonly value: ShownValue }) {
  switch (value.kind) {
    case 'none':
      return <span className={classes.noValue}>none</span>;
    case 'sealed':
      return (
        <span className={classes.chip} title="The tool or a variable marks this value as sensitive">
          <svg width={11} height={11} viewBox="0 0 16 16" aria-hidden="true">
            <path d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2" stroke="currentColor" strokeWidth="1.8" fill="none" />
            <rect x="2.5" y="7" width="11" height="8" rx="1.5" fill="currentColor" />
          </svg>
          sealed
        </span>
      );
    case 'unknown':
      return <span className={classes.unknown}>known after apply</span>;
    default:
      return <Text value={value} />;
  }
}
