/** Approval policies as they are evaluated: how they are read, compiled and asked, and what they said. */
import type { Family } from '../family.ts';

export const family: Family = {
  name: 'approval-policies',
  tables: ['policy_verdict'],
};
