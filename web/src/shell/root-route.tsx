/** The root of all addresses. */
import { createRootRoute, Outlet } from '@tanstack/react-router';

/** Parameters behind `?` are read by each page with its own reader: see `ui/search.ts`. */
export const rootRoute = createRootRoute({
  component: Outlet,
  validateSearch: (search: Record<string, unknown>) => search as Record<string, string | undefined>,
});
