/** The places of the interface, for the navigation, the command palette and the shortcuts. */
import { useRouter } from '@tanstack/react-router';

/** The groups of the navigation, in its order. */
const groups = ['Work', 'Sources', 'Access', 'Operation'] as const;

/** Place of a page in the navigation, declared where it is registered. */
export interface PagePlace {
  readonly group: (typeof groups)[number];
  readonly name: string;
  /** The key that leads there after `g`. */
  readonly key?: string;
}

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    readonly place?: PagePlace | undefined;
  }
}

export interface NavigationTarget extends PagePlace {
  readonly to: string;
}

/** All places by group, in the order in which their pages are registered. */
export function usePlaces(): readonly NavigationTarget[] {
  const { routesByPath } = useRouter();
  const places = Object.values(routesByPath).flatMap(({ fullPath, options: { staticData } }) =>
    staticData?.place === undefined ? [] : [{ ...staticData.place, to: fullPath }],
  );
  return groups.flatMap((group) => places.filter((place) => place.group === group));
}
