/** What stands around every page: places to go to, search, and whether the page is live. */
import { AppShell, Burger, Button, Kbd, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { useLive } from '../api/live.ts';
import { useSession } from '../api/session.ts';
import { LiveBar } from './LiveBar.tsx';
import { openPalette } from './open-palette.ts';
import { navigation } from './navigation.ts';
import classes from './Shell.module.css';
import { UserMenu } from './UserMenu.tsx';

const Palette = lazy(() => import('./Palette.tsx'));

function Navigation({ onGo }: { readonly onGo: () => void }) {
  return (
    <nav aria-label="Main" className={classes.nav}>
      {navigation.map(({ label, places }) => (
        <section key={label} aria-label={label}>
          {label !== 'Work' && <h2>{label}</h2>}
          {places.map(({ to, name }) => (
            <Link
              key={to}
              to={to}
              onClick={onGo}
              activeOptions={{ exact: to === '/' }}
              className={classes.place!}
            >
              {name}
            </Link>
          ))}
        </section>
      ))}
    </nav>
  );
}

/** People who do not see the page hear that it is another one. */
function useFocusOnNavigation(): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else document.querySelector<HTMLElement>('#page-title')?.focus({ preventScroll: true });
  }, [path]);
}

export function Shell() {
  const { organizationId } = useSession();
  const [isOpen, { toggle, close }] = useDisclosure();
  useLive(organizationId);
  useFocusOnNavigation();
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 216, breakpoint: 'md', collapsed: { mobile: !isOpen } }}
      padding={0}
    >
      <AppShell.Header className={classes.header}>
        <a href="#page-title" className={classes.skip}>
          Skip to the page
        </a>
        <Burger opened={isOpen} onClick={toggle} hiddenFrom="md" size="sm" aria-label="Places" />
        <Link to="/" className={classes.brand!} onClick={close}>
          <img src="icon.svg" alt="" width={24} height={24} />
          <span>Envarium</span>
        </Link>
        <UnstyledButton className={classes.search} onClick={openPalette}>
          <span>Search or do …</span>
          <Kbd size="xs">Ctrl K</Kbd>
        </UnstyledButton>
        <Button component={Link} to="/environments/new" size="xs" visibleFrom="xs">
          New environment
        </Button>
        <UserMenu />
      </AppShell.Header>
      <AppShell.Navbar className={classes.bar}>
        <Navigation onGo={close} />
      </AppShell.Navbar>
      <AppShell.Main>
        <LiveBar />
        <Outlet />
      </AppShell.Main>
      <Suspense>
        <Palette />
      </Suspense>
    </AppShell>
  );
}
