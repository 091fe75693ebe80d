/** The families of the server in their order: each imports only what is listed before it, and stores. */
import type { Family } from './family.ts';

/** One line per family; the import rule, the app, the loops and the checks of rights read this list. */
export const families: readonly Family[] = [
  (await import('./system/family.ts')).family,
  (await import('./users/family.ts')).family,
  (await import('./audit-log/family.ts')).family,
  (await import('./agents/family.ts')).family,
  (await import('./projects/family.ts')).family,
  (await import('./organizations/family.ts')).family,
  (await import('./teams/family.ts')).family,
  (await import('./roles/family.ts')).family,
  (await import('./sign-in/family.ts')).family,
  (await import('./people/family.ts')).family,
  (await import('./scim/family.ts')).family,
  (await import('./api-keys/family.ts')).family,
  (await import('./single-sign-on/family.ts')).family,
  (await import('./git-tokens/family.ts')).family,
  (await import('./ssh-keys/family.ts')).family,
  (await import('./templates/family.ts')).family,
  (await import('./variables/family.ts')).family,
  (await import('./logs/family.ts')).family,
  (await import('./sources/family.ts')).family,
  (await import('./feeds/family.ts')).family,
  (await import('./deployments/family.ts')).family,
  (await import('./schedules/family.ts')).family,
  (await import('./environments/family.ts')).family,
  (await import('./state/family.ts')).family,
  (await import('./dispatch/family.ts')).family,
];
