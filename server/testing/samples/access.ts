import { ok } from '../client.ts';
import type { MakeSample } from '../samples.ts';

export const sample: MakeSample = async (app) => {
  const { organizationId, projectId } = app;
  const team = await ok(app, 'createTeam', { body: { organizationId, name: 'sampled' } });
  const role = await ok(app, 'createRole', {
    body: { organizationId, name: 'sampled', permissions: ['VIEW_PROJECT'] },
  });
  const assignment = await ok(app, 'addTeamAssignment', {
    body: { teamId: team.id, projectId, projectRole: 'Viewer' },
  });
  const member = await app.addKey({ [organizationId]: 'User' });
  const ofUser = { userId: member.id };
  const ofTeam = { teamId: team.id };
  return {
    ids: { team: team.id, role: role.id, teamAssignment: assignment.id, user: member.id },
    bodies: {
      setMemberRole: 'User',
      assignUserRole: { ...ofUser, role: 'Viewer' },
      assignTeamRole: { ...ofTeam, role: 'Viewer' },
      addProjectPermission: { ...ofUser, role: 'Viewer' },
      updateProjectPermission: { role: 'Viewer' },
      addTeamAssignment: { ...ofTeam, projectRole: 'Viewer' },
    },
    queries: { removeUserRole: ofUser, removeTeamRole: ofTeam },
  };
};
