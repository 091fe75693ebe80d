/** Members of an organization, and how their status looks. */
import type { Reply } from '../../api/queries.ts';
import type { StatusLook } from '../../design/status.tsx';

export type ListedMember = Reply<'listMembers'>[number];

export const memberLooks: Readonly<Record<ListedMember['status'], StatusLook>> = {
  Active: { word: 'Active', tone: 'ok', shape: 'check' },
  Invited: { word: 'Invited', tone: 'wait', shape: 'diamond' },
  Inactive: { word: 'Deactivated', tone: 'idle', shape: 'bar' },
};
