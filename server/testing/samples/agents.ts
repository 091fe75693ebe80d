import type { FieldEffects, MakeSample } from '../samples.ts';

export const sample: MakeSample = ({ projectId }) => ({
  ids: { agent: 'ENVARIUM_DEFAULT' },
  bodies: { setDefaultAgent: { agent: null }, assignProjectAgents: { [projectId]: 'ENVARIUM_DEFAULT' } },
});

export const effects: FieldEffects = { agent: 'server/src/runs/agents/project-agents.ts' };
