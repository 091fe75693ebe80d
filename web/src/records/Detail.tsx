/** One thing of a list, beside the list: the address says which one is open. */
import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import { useSearchState } from '../ui/search.ts';
import classes from './records.module.css';

export interface DetailProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function Detail({ title, onClose, children }: DetailProps) {
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="min(44rem, 100vw)"
      title={<bdi className={classes.detailTitle}>{title}</bdi>}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <div className={classes.detail}>{children}</div>
    </Drawer>
  );
}

/** Open row of a list, in the address as `?open=<id>`. */
export function useOpenRow(): {
  readonly openId: string | undefined;
  readonly open: (id: string) => void;
  readonly close: () => void;
} {
  const [{ open: openId }, change] = useSearchState();
  return {
    openId,
    open: (id) => change({ open: id }, true),
    close: () => change({ open: undefined }),
  };
}

/** The name of a row, which opens it. */
export function OpenLink({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  const { open } = useOpenRow();
  return (
    <button type="button" className={classes.open} onClick={() => open(id)}>
      <bdi>{children}</bdi>
    </button>
  );
}
