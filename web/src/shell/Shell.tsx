/** Frame of every page: navigation, search, and the state of live updates. */
import { AppShell, Burger, Button, Kbd, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, Outlet, useRouter, useRouterState } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useRef } from 'react';
import { useLive } from '../api/live.ts';
import { queryClient } from '../api/queries.ts';
import { currentUser, useSession } from '../api/session.ts';
import { useSessionEnd } from '../api/session-end.ts';
import { LazyMenu, lazyMenu } from '../ui/LazyMenu.tsx';
import { DialogLoading } from '../ui/Loaded.tsx';
import { LiveBar } from './LiveBar.tsx';
import { usePlaces } from './navigation.ts';
import { openPalette, useOverlay } from './open-palette.ts';
import { PaletteGate } from './PaletteGate.tsx';
import classes from './Shell.module.css';
import { useShortcuts } from './shortcuts.ts';

const accountMenu = lazyMenu<string>(() => import('./AccountMenu.tsx'));

/** As people see it, also of emoji and of letters that are made of several signs. */
function firstLetter(name: string): string {
  const [first] = new Intl.Segmenter().segment(name);
  return first?.segment.toUpperCase() ?? '';
}

/** The button of the account. */
function UserMenu() {
  const { me } = useSession();
  const name = me.user.name ?? me.user.email ?? 'Account';
  return (
    <LazyMenu
      menu={accountMenu}
      content={name}
      button={(props) => (
        <UnstyledButton className={classes.user} aria-label={`Account: ${name}`} {...props}>
          {firstLetter(name)}
        </UnstyledButton>
      )}
    />
  );
}

const preloadedPages = [
  '/environments',
  '/environments/$environmentId',
  '/deployments/$deploymentId',
] as const;

/** The page that was opened comes first, with all that it reads. */
const waitMilliseconds = 2_000;

/** Loads the parts of the pages that people open most while nothing else is to be done; not where data is saved. */
function usePreloadedPages(): void {
  const router = useRouter();
  useEffect(() => {
    const { connection } = navigator as { connection?: { readonly saveData?: boolean } };
    if (connection?.saveData) return;
    const load = () => {
      for (const page of preloadedPages) {
        const route = router.routesByPath[page];
        // A part that cannot be loaded now is loaded when it is needed, which then says why it cannot.
        if (route) router.loadRouteChunk(route)?.catch(() => undefined);
      }
    };
    const whenIdle = globalThis.requestIdleCallback ?? setTimeout;
    const timer = setTimeout(() => whenIdle(load), waitMilliseconds);
    return () => clearTimeout(timer);
  }, [router]);
}

/** The page stays usable where one of these cannot be loaded. */
const missing = (): { default: () => ReactNode } => ({ default: () => null });
const ShortcutSheet = lazy<() => ReactNode>(() => import('./ShortcutSheet.tsx').catch(missing));
const SessionDialog = lazy(() => import('./SessionDialog.tsx'));

function Navigation({ onGo }: { readonly onGo: () => void }) {
  const groups = Map.groupBy(usePlaces(), ({ group }) => group);
  return (
    <nav aria-label="Main" className={classes.nav}>
      {Array.from(groups, ([label, places]) => (
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

/** Whether the person types there: a page that took long to load leaves the focus where it is by now. */
function isTypedInto(element: Element | null): boolean {
  return element !== null && element.closest('input, textarea, [contenteditable], [role="dialog"]') !== null;
}

function focusTitle(options?: FocusOptions): void {
  document.querySelector<HTMLElement>('#page-title')?.focus(options);
}

/** People who do not see the page hear that it is another one. */
function useFocusOnNavigation(): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const before = useRef(path);
  useEffect(() => {
    const isOther = before.current !== undefined && before.current !== path;
    before.current = path;
    if (isOther && !isTypedInto(document.activeElement)) focusTitle({ preventScroll: true });
  }, [path]);
}

/** A tab that is looked at again learns who is signed in by now. */
function useSessionWatch(): void {
  useEffect(() => {
    const ending = new AbortController();
    const onVisibility = () => {
      if (!document.hidden) void queryClient.refetchQueries({ queryKey: currentUser.queryKey });
    };
    document.addEventListener('visibilitychange', onVisibility, { signal: ending.signal });
    return () => ending.abort();
  }, []);
}

export function Shell() {
  const { organizationId } = useSession();
  const [isOpen, { toggle, close }] = useDisclosure();
  useLive(organizationId);
  useFocusOnNavigation();
  useSessionWatch();
  useShortcuts();
  usePreloadedPages();
  const hasEnded = useSessionEnd();
  const overlay = useOverlay();
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 216, breakpoint: 'md', collapsed: { mobile: !isOpen } }}
      padding={0}
    >
      <AppShell.Header className={classes.header}>
        <a
          href="#page-title"
          className={classes.skip}
          onClick={(event) => {
            // The browser would resolve it against the base of the document and leave the page.
            event.preventDefault();
            focusTitle();
          }}
        >
          Skip to the page
        </a>
        <Burger opened={isOpen} onClick={toggle} hiddenFrom="md" size="sm" aria-label="Places" />
        <Link to="/" className={classes.brand!} onClick={close} aria-label="Envarium">
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
      {overlay === 'palette' && <PaletteGate />}
      <Suspense fallback={<DialogLoading />}>{overlay === 'shortcuts' && <ShortcutSheet />}</Suspense>
      <Suspense>{hasEnded && <SessionDialog />}</Suspense>
    </AppShell>
  );
}
