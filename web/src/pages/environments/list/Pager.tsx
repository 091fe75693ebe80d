/** Shown rows, their total, and the way to the others. */
import { Button } from '@mantine/core';
import classes from './list.module.css';

export interface PagerProps {
  /** From 1 on. */
  readonly page: number;
  readonly size: number;
  readonly total: number;
  readonly onPage: (page: number) => void;
}

const number = new Intl.NumberFormat();

export function Pager({ page, size, total, onPage }: PagerProps) {
  const first = (page - 1) * size + 1;
  const last = Math.min(page * size, total);
  const pages = Math.max(1, Math.ceil(total / size));
  return (
    <nav aria-label="Pages" className={classes.pager}>
      <span className="tabular" role="status">
        {total === 0
          ? 'None'
          : `${number.format(first)} to ${number.format(last)} of ${number.format(total)}`}
      </span>
      {pages > 1 && (
        <div>
          <Button variant="default" size="xs" disabled={page <= 1} onClick={() => onPage(page - 1)}>
            Previous
          </Button>
          <Button variant="default" size="xs" disabled={page >= pages} onClick={() => onPage(page + 1)}>
            Next
          </Button>
        </div>
      )}
    </nav>
  );
}
