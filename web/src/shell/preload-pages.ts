/** The pages that people open most are loaded in advance. */
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

const pages = ['/environments', '/environments/$environmentId', '/deployments/$deploymentId'] as const;

/** The page that was opened comes first, with all that it reads. */
const waitMilliseconds = 2_000;

/** Loads the parts of these pages while nothing else is to be done; not where data is saved. */
export function usePreloadedPages(): void {
  const router = useRouter();
  useEffect(() => {
    const { connection } = navigator as { connection?: { readonly saveData?: boolean } };
    if (connection?.saveData) return;
    const load = () => {
      for (const page of pages) {
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
