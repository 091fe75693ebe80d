/** A resource of a plan: what happens to it and why; opened, its attributes. */
import { memo } from 'react';
import type { ResourceChange } from '#contract/deployments/plan.ts';
import { kindWords } from '#contract/deployments/plan-counts.ts';
import { AttributeRow } from './AttributeRow.tsx';
import { KindMark } from './PlanMarks.tsx';
import classes from './plan.module.css';
import { reasonText } from './reasons.ts';
import { attributeSummary, type PlanRow, shownAttributes } from './rows.ts';

function Notes({ change }: { readonly change: ResourceChange }) {
  const { driftByCloud, importing, previousAddress, createBeforeDestroy } = change;
  return (
    <>
      {driftByCloud === true && (
        <span className={classes.note} data-note="drift">
          changed outside
        </span>
      )}
      {importing !== undefined && (
        <span className={classes.note} data-note="import">
          imports <bdi>{importing.id === '' ? 'what is there' : importing.id}</bdi>
        </span>
      )}
      {previousAddress !== undefined && (
        <span className={classes.note}>
          was <bdi className={classes.mono}>{previousAddress}</bdi>
        </span>
      )}
      {createBeforeDestroy === true && <span className={classes.note}>new one first</span>}
    </>
  );
}

/** Sides of the attributes of a row. */
function sidesOf({ action, kind }: ResourceChange): 'before' | 'after' | 'both' {
  if (kind === 'forget') return 'both';
  return action === 'create' ? 'after' : action === 'delete' ? 'before' : 'both';
}

function Attributes({ row: { change, kind } }: { readonly row: PlanRow }) {
  const sides = sidesOf(change);
  const reason = reasonText(change);
  const { listed, unknown } = shownAttributes(change, kind);
  return (
    <div className={classes.attributes} role="list" aria-label="Attributes">
      {listed.map((attribute, at) => (
        <AttributeRow
          key={`${attribute.name} ${at}`}
          attribute={attribute}
          sides={sides}
          isForcing={attribute.forcesReplacement === true}
        />
      ))}
      {unknown.length > 0 && (
        <p className={classes.nothing} role="listitem">
          Known after apply: <bdi className={classes.mono}>{unknown.join(', ')}</bdi>
        </p>
      )}
      {change.attributes.length === 0 && (
        <p className={classes.nothing}>
          {reason ? `No attribute is named: ${reason}.` : 'No attribute is named.'}
        </p>
      )}
    </div>
  );
}

export interface ResourceRowProps {
  readonly row: PlanRow;
  readonly isOpen: boolean;
  readonly isCurrent: boolean;
  /** The same function for as long as possible: rows are drawn again only when something of theirs changes. */
  readonly onToggle: (row: PlanRow) => void;
}

function Row({ row, isOpen, isCurrent, onToggle }: ResourceRowProps) {
  const { change, kind } = row;
  const reason = reasonText(change);
  return (
    <article className={classes.row} data-kind={kind} data-current={isCurrent || undefined}>
      <h3 className={classes.rowHead}>
        <button type="button" aria-expanded={isOpen} onClick={() => onToggle(row)} data-row={row.key}>
          <KindMark kind={kind} />
          <bdi className={classes.address}>{change.path}</bdi>
          {!isOpen && <bdi className={classes.summary}>{attributeSummary(row)}</bdi>}
          <span className={classes.notes}>
            <Notes change={change} />
          </span>
          <span className={classes.chevron} aria-hidden="true">
            {isOpen ? '▾' : '▸'}
          </span>
        </button>
      </h3>
      {reason !== undefined && (
        <p className={classes.reason}>
          {kindWords[kind].word}: <bdi>{reason}</bdi>
        </p>
      )}
      {isOpen && <Attributes row={row} />}
    </article>
  );
}

export const ResourceRow = memo(Row);
