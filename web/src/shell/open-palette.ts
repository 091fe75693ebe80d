/** Opens the command palette and the sheet of shortcuts, whose code is loaded when it is needed first. */
import { useSyncExternalStore } from 'react';

export type Overlay = 'palette' | 'shortcuts';

/** Names of the palette's field, before and after its code is loaded. */
export const paletteField = {
  'aria-label': 'Search for anything',
  placeholder: 'An environment, a page or an action',
} as const;

/** Enter, but not the one that ends the input of a character. */
export function isEnter({ key, nativeEvent }: React.KeyboardEvent): boolean {
  return key === 'Enter' && !nativeEvent.isComposing;
}

let open: Overlay | undefined;
const listeners = new Set<() => void>();

function set(overlay: Overlay | undefined): void {
  open = overlay;
  for (const listener of listeners) listener();
}

export function openPalette(): void {
  set('palette');
}

export function openShortcuts(): void {
  set('shortcuts');
}

/** Closes one of them, unless the other one was opened in its place. */
export function closeOverlay(overlay: Overlay): void {
  if (open === overlay) set(undefined);
}

/** Dialog above the page. */
export function useOverlay(): Overlay | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => open,
  );
}
