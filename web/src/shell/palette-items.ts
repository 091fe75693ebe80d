/** Results of the command palette. */
import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { usePage, useRead } from '../api/queries.ts';
import { chooseOrganization, signOut, useSession } from '../api/session.ts';
import { environmentLooks } from '../design/status.tsx';
import { leftOut } from '../pages/environments/list/list-query.ts';
import { usePlaces } from './navigation.ts';
import { openShortcuts } from './open-palette.ts';
import { usePageActions } from './page-actions.ts';

export interface PaletteItem {
  readonly id: string;
  readonly label: string;
  /** Kind or place. */
  readonly detail?: string;
  readonly run: () => void;
}

export interface PaletteGroup {
  readonly label: string;
  readonly items: readonly PaletteItem[];
}

export interface PaletteMatches {
  /** Groups without any items are left out. */
  readonly groups: readonly PaletteGroup[];
  /** Whether something that fits better may still be found. */
  readonly isSearching: boolean;
}

const mostOfAKind = 7;
const typingMilliseconds = 150;

/** Whether each word of what was typed begins or is part of a text. */
function fits(text: string, query: string): boolean {
  const within = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => within.includes(word));
}

function ofQuery(items: readonly PaletteItem[], query: string): PaletteItem[] {
  return items.filter(({ label, detail }) => fits(`${label} ${detail ?? ''}`, query));
}

/** Things of the organization whose name has what was typed; the service searches environments. */
function useThings(query: string): PaletteMatches {
  const { organizationId } = useSession();
  const navigate = useNavigate();
  const [searchText] = useDebouncedValue(query.trim(), typingMilliseconds);
  const environments = usePage('listEnvironments', {
    query: {
      organizationId,
      limit: mostOfAKind,
      excludeFields: leftOut,
      sort: '-updatedAt',
      ...(searchText === '' ? {} : { searchText }),
    },
  });
  const projects = useRead('listProjects', { query: { organizationId } });
  const templates = useRead('listTemplates', { query: { organizationId } });
  const named = (
    list: readonly { id?: string; name: string }[] | undefined,
    detail: string,
    path: string,
  ): PaletteItem[] =>
    ofQuery(
      (list ?? []).map(({ id = '', name }) => ({
        id,
        label: name,
        detail,
        run: () => void navigate({ to: `${path}/${id}` }),
      })),
      query,
    ).slice(0, query.trim() === '' ? 0 : mostOfAKind);
  const found = (environments.data?.rows ?? []).map(({ id, name, projectName, status }) => ({
    id,
    label: name,
    detail: `${projectName}, ${environmentLooks[status].word.toLowerCase()}`,
    run: () => void navigate({ to: `/environments/${id}` }),
  }));
  // Until the service has answered, only those are left of the answer before that fit by their name.
  const isCurrent = searchText === query.trim() && !environments.isPlaceholderData;
  return {
    groups: [
      { label: 'Environments', items: isCurrent ? found : ofQuery(found, query) },
      { label: 'Projects', items: named(projects.data, 'Project', '/projects') },
      { label: 'Templates', items: named(templates.data, 'Template', '/templates') },
    ],
    isSearching: !isCurrent || [environments, projects, templates].some(({ isPending }) => isPending),
  };
}

function useCommands(): PaletteItem[] {
  const { me, organizationId } = useSession();
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const colours = { light: 'Light colours', dark: 'Dark colours', auto: 'Colours of the system' } as const;
  return [
    { id: 'new', label: 'New environment', run: () => void navigate({ to: '/environments/new' }) },
    { id: 'new-template', label: 'New template', run: () => void navigate({ to: '/templates/new' }) },
    ...(['light', 'dark', 'auto'] as const).map((scheme) => ({
      id: `colours-${scheme}`,
      label: colours[scheme],
      run: () => setColorScheme(scheme),
    })),
    { id: 'shortcuts', label: 'Keyboard shortcuts', run: openShortcuts },
    ...me.organizations
      .filter(({ id }) => id !== organizationId)
      .map(({ id, name }) => ({
        id: `organization-${id}`,
        label: `Work in ${name}`,
        detail: 'Organization',
        run: () => {
          chooseOrganization(id);
          void navigate({ to: '/' });
        },
      })),
    { id: 'sign-out', label: 'Sign out', run: () => void signOut().then(() => navigate({ to: '/sign-in' })) },
  ];
}

/** Everything that fits what was typed, by kind. */
export function useFound(query: string): PaletteMatches {
  const onPage = usePageActions();
  const isPageLoading = useRouterState({ select: ({ isLoading }) => isLoading });
  const navigate = useNavigate();
  const things = useThings(query);
  const commands = useCommands();
  const places = usePlaces().map(({ to, name }) => ({
    id: to,
    label: name,
    run: () => void navigate({ to }),
  }));
  const profile = {
    id: '/profile',
    label: 'Profile',
    detail: 'Page',
    run: () => void navigate({ to: '/profile' }),
  };
  const here = onPage.map(({ label, run }) => ({ id: `here-${label}`, label, run }));
  const ofPage = ofQuery(here, query);
  const groups = [
    { label: 'On this page', items: ofPage },
    ...things.groups,
    { label: 'Pages', items: ofQuery([...places, profile], query) },
    { label: 'Actions', items: ofQuery(commands, query) },
  ].filter(({ items }) => items.length > 0);
  return { groups, isSearching: isPageLoading || (ofPage.length === 0 && things.isSearching) };
}
