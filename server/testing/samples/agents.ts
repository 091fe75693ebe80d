import type { FieldEffects, MakeSample } from '../samples.ts';

export const sample: MakeSample = () => ({
  ids: { agent: 'ENVARIUM_DEFAULT' },
  bodies: { setDefaultAgent: { agent: null } },
});

export const effects: FieldEffects = { agent: 'server/src/runs/agents/project-agents.ts' };
