/** The keys of the interface, for the keyboard and for the sheet that lists them. */
import { type HotkeyItem, useHotkeys } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { useGlobalKeys } from '../ui/page-keys.ts';
import { focusSearchBox } from '../ui/search-box-mark.ts';
import { usePlaces } from './navigation.ts';
import { openPalette, openShortcuts } from './open-palette.ts';

/** After `g`, so long the next key names a place. */
const sequenceMilliseconds = 1200;

interface KeyedPlace {
  readonly to: string;
  readonly name: string;
  readonly key: string;
}

/** Places that have a key of their own. */
function useKeyedPlaces(): readonly KeyedPlace[] {
  return usePlaces().flatMap(({ key, ...place }) => (key === undefined ? [] : [{ ...place, key }]));
}

export interface Shortcut {
  /** Keys one after the other. */
  readonly keys: readonly string[];
  readonly does: string;
}

const shortcuts: Readonly<Record<string, readonly Shortcut[]>> = {
  Everywhere: [
    { keys: ['Ctrl K'], does: 'Search or run a command' },
    { keys: ['?'], does: 'This sheet' },
    { keys: ['c'], does: 'New environment' },
    { keys: ['/'], does: 'Search the list on this page' },
  ],
  'In lists': [
    { keys: ['j'], does: 'Next row' },
    { keys: ['k'], does: 'Row before' },
    { keys: ['x'], does: 'Select the row' },
    { keys: ['o'], does: 'Open the row, as Enter does' },
  ],
  'In a log': [
    { keys: ['n'], does: 'Next line that was found; Shift N: the one before' },
    { keys: ['g'], does: 'To the beginning; Shift G: to the end, and follow it' },
    { keys: ['f'], does: 'Follow the end' },
    { keys: ['w'], does: 'Wrap long lines' },
    { keys: ['t'], does: 'Times' },
  ],
  'On a deployment': [
    { keys: ['a'], does: 'Approve its plan, after a confirmation' },
    { keys: ['r'], does: 'Refuse its plan, after a confirmation' },
  ],
};

/** All shortcuts by where they work. */
export function useShortcutLists(): Readonly<Record<string, readonly Shortcut[]>> {
  const places = useKeyedPlaces().map(({ key, name }) => ({ keys: ['g', key], does: name }));
  return { ...shortcuts, 'Go to': places };
}

/** Listens for the keys that work on every page; while the user types into a field they are text. */
export function useShortcuts(): void {
  const navigate = useNavigate();
  const keyedPlaces = useKeyedPlaces();
  const startedAt = useRef(Number.NEGATIVE_INFINITY);
  // When the keys were pressed: a busy page handles them later.
  const isGoing = ({ timeStamp }: KeyboardEvent) => timeStamp - startedAt.current < sequenceMilliseconds;
  const search = () => {
    if (!focusSearchBox()) openPalette();
  };
  useGlobalKeys([
    ['shift+?', openShortcuts],
    ['?', openShortcuts],
    ['/', search],
    ['shift+/', search],
    ['c', () => void navigate({ to: '/environments/new' })],
    [
      'g',
      ({ timeStamp }) => {
        startedAt.current = timeStamp;
      },
    ],
    ...keyedPlaces.map(
      ({ key, to }): HotkeyItem => [
        key,
        (event) => {
          if (!isGoing(event)) return;
          startedAt.current = Number.NEGATIVE_INFINITY;
          void navigate({ to });
        },
      ],
    ),
  ]);
  useHotkeys([['mod+K', openPalette]], []);
}
