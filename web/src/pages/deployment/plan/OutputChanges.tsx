/** Changes of a plan to the outputs. */
import type { Plan } from '#contract/deployments/plan.ts';
import { AttributeRow } from './AttributeRow.tsx';
import classes from './plan.module.css';

const sidesOf = { create: 'after', delete: 'before' } as const;

export function OutputChanges({ changes }: { readonly changes: Plan['outputChanges'] }) {
  if (changes.length === 0) return null;
  return (
    <section aria-labelledby="output-changes">
      <h2 id="output-changes" className={classes.heading}>
        Outputs
      </h2>
      <div className={classes.attributes} role="list" aria-label="Outputs that change">
        {changes.map(({ name, moduleName = '', action, attributes }) => (
          <AttributeRow
            key={`${moduleName} ${name}`}
            attribute={{ ...attributes[0], name: moduleName === '' ? name : `${moduleName} · ${name}` }}
            sides={sidesOf[action as keyof typeof sidesOf] ?? 'both'}
          />
        ))}
      </div>
    </section>
  );
}
