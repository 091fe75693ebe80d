/** The frame of pages for people who are not signed in. */
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import classes from './Gate.module.css';

export function Gate({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useDocumentTitle(`${title} · Envarium`);
  return (
    <main className={classes.gate}>
      <div className={classes.card}>
        <p className={classes.brand}>
          <img src="icon.svg" alt="" width={28} height={28} />
          Envarium
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
