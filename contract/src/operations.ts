/** Every operation of the interface, by name: one line per family, in the order of the reference. */
export const operations = {
  ...(await import('./organizations/operations.ts')).operations,
  ...(await import('./sign-in/operations.ts')).operations,
  ...(await import('./people/operations.ts')).operations,
  ...(await import('./organizations/member-operations.ts')).operations,
  ...(await import('./scim/operations.ts')).operations,
  ...(await import('./teams/operations.ts')).operations,
  ...(await import('./roles/operations.ts')).operations,
  ...(await import('./roles/assignment-operations.ts')).operations,
  ...(await import('./single-sign-on/operations.ts')).operations,
  ...(await import('./projects/operations.ts')).operations,
  ...(await import('./templates/operations.ts')).operations,
  ...(await import('./environments/operations.ts')).operations,
  ...(await import('./schedules/operations.ts')).operations,
  ...(await import('./deployments/operations.ts')).operations,
  ...(await import('./state/operations.ts')).operations,
  ...(await import('./git-tokens/operations.ts')).operations,
  ...(await import('./ssh-keys/operations.ts')).operations,
  ...(await import('./api-keys/operations.ts')).operations,
  ...(await import('./agents/operations.ts')).operations,
  ...(await import('./audit/operations.ts')).operations,
  ...(await import('./system/operations.ts')).operations,
};

export type OperationName = keyof typeof operations;
