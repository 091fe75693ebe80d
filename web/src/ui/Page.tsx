/** The frame of every page: its place, its title, its actions, and what a terminal would do. */
import { Breadcrumbs, Button } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ShownCall } from './calls.ts';
import { LazyMenu, lazyMenu } from './LazyMenu.tsx';
import classes from './ui.module.css';

const callsMenu = lazyMenu<readonly ShownCall[]>(() => import('./CallsMenu.tsx'));

/** "Copy as": what the page shows or does, for a terminal. */
function CopyCalls({ calls }: { readonly calls: readonly ShownCall[] }) {
  return (
    <LazyMenu
      menu={callsMenu}
      content={calls}
      button={(props) => (
        <Button variant="default" size="xs" {...props}>
          Copy as …
        </Button>
      )}
    />
  );
}

export interface Crumb {
  readonly label: string;
  readonly to: string;
}

export interface PageProps {
  readonly title: string;
  /** Beside the title, such as a status. */
  readonly aside?: ReactNode;
  /** Subject of the page in one sentence, below the title. */
  readonly lead?: ReactNode;
  readonly crumbs?: readonly Crumb[];
  readonly actions?: ReactNode;
  /** Calls of the page, for a terminal; a page without any is a defect. */
  readonly calls: readonly ShownCall[];
  readonly children: ReactNode;
}

export function Page({ title, aside, lead, crumbs = [], actions, calls, children }: PageProps) {
  useDocumentTitle(`${title} · Envarium`);
  return (
    <article className={classes.page}>
      <header className={classes.pageHead}>
        {crumbs.length > 0 && (
          <Breadcrumbs className={classes.crumbs} separator="/">
            {crumbs.map(({ label, to }) => (
              <Link key={to} to={to}>
                <bdi>{label}</bdi>
              </Link>
            ))}
          </Breadcrumbs>
        )}
        <div className={classes.titleRow}>
          <h1 id="page-title" tabIndex={-1}>
            <bdi>{title}</bdi>
          </h1>
          {aside}
          <div className={classes.actions}>
            {actions}
            {calls.length > 0 && <CopyCalls calls={calls} />}
          </div>
        </div>
        {lead !== undefined && <div className={classes.lead}>{lead}</div>}
      </header>
      {children}
    </article>
  );
}
