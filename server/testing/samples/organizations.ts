import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = ({ organizationId, projectId }) => ({
  ids: { organization: organizationId, project: projectId },
  queries: { getDashboard: { queryName: 'totalEnvironments' } },
});
